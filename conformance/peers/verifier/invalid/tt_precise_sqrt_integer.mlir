// rule: tt.precise_sqrt: floats alone
tt.func public @k(%x: tensor<64xi32>) {
  %0 = tt.precise_sqrt %x : tensor<64xi32>
  tt.return
}
