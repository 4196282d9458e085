// rule: tt.broadcast: the rank stays
tt.func public @k(%a: tensor<64xf32>) {
  %0 = tt.broadcast %a : tensor<64xf32> -> tensor<64x64xf32>
  tt.return
}
