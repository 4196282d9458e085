// rule: tt.load: the result's element is what the pointer points to
tt.func public @k(%p: tensor<64x!tt.ptr<f32>>) {
  %0 = "tt.load"(%p) <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (tensor<64x!tt.ptr<f32>>) -> tensor<64xf16>
  tt.return
}
