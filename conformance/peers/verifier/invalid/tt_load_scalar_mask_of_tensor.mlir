// rule: tt.load: a tensor of pointers has a tensor for mask
tt.func public @k(%p: tensor<64x!tt.ptr<f32>>, %m: i1) {
  %0 = "tt.load"(%p, %m) <{operandSegmentSizes = array<i32: 1, 1, 0>}> : (tensor<64x!tt.ptr<f32>>, i1) -> tensor<64xf32>
  tt.return
}
