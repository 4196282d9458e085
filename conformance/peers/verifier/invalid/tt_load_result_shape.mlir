// rule: tt.load: the result has the shape of the pointers
tt.func public @k(%p: tensor<64x!tt.ptr<f32>>) {
  %0 = "tt.load"(%p) <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (tensor<64x!tt.ptr<f32>>) -> tensor<32xf32>
  tt.return
}
