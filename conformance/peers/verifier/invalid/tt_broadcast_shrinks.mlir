// rule: tt.broadcast: no axis becomes shorter
tt.func public @k(%a: tensor<64x1xf32>) {
  %0 = tt.broadcast %a : tensor<64x1xf32> -> tensor<1x64xf32>
  tt.return
}
