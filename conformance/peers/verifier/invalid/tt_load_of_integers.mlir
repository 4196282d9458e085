// rule: tt.load: the address is a pointer or a tensor of pointers
tt.func public @k(%p: tensor<64xi64>) {
  %0 = "tt.load"(%p) <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (tensor<64xi64>) -> tensor<64xi64>
  tt.return
}
