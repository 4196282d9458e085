// rule: tt.load: other has the type of the result
tt.func public @k(%p: tensor<64x!tt.ptr<f32>>, %m: tensor<64xi1>, %o: tensor<64xf16>) {
  %0 = "tt.load"(%p, %m, %o) <{operandSegmentSizes = array<i32: 1, 1, 1>}> : (tensor<64x!tt.ptr<f32>>, tensor<64xi1>, tensor<64xf16>) -> tensor<64xf32>
  tt.return
}
