// rule: arith.select: a tensor's condition has its shape
tt.func public @k(%c: tensor<32xi1>, %x: tensor<64xf32>) {
  %0 = "arith.select"(%c, %x, %x) : (tensor<32xi1>, tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  tt.return
}
