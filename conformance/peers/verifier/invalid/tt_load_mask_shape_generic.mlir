// rule: tt.load: the mask has the shape of the pointers (generic form)
tt.func public @k(%p: tensor<64x!tt.ptr<f32>>, %m: tensor<32xi1>) {
  %0 = "tt.load"(%p, %m) <{operandSegmentSizes = array<i32: 1, 1, 0>}> : (tensor<64x!tt.ptr<f32>>, tensor<32xi1>) -> tensor<64xf32>
  tt.return
}
