// rule: tt.load: the mask's elements are i1
tt.func public @k(%p: tensor<64x!tt.ptr<f32>>, %m: tensor<64xi8>) {
  %0 = "tt.load"(%p, %m) <{operandSegmentSizes = array<i32: 1, 1, 0>}> : (tensor<64x!tt.ptr<f32>>, tensor<64xi8>) -> tensor<64xf32>
  tt.return
}
