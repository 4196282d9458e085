// rule: arith.addf: floats alone
tt.func public @k(%x: tensor<64xi32>) {
  %0 = arith.addf %x, %x : tensor<64xi32>
  tt.return
}
