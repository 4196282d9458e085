// rule: tt.load: the operand segments add up to the operands
tt.func public @k(%p: tensor<64x!tt.ptr<f32>>) {
  %0 = "tt.load"(%p) <{operandSegmentSizes = array<i32: 1, 1, 0>}> : (tensor<64x!tt.ptr<f32>>) -> tensor<64xf32>
  tt.return
}
