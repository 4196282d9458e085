// rule: tt.broadcast: only axes of length 1 grow
tt.func public @k(%a: tensor<1x32xf32>) {
  %0 = tt.broadcast %a : tensor<1x32xf32> -> tensor<64x64xf32>
  tt.return
}
