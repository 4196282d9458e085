// rule: tt.broadcast: the element type stays
tt.func public @k(%a: tensor<1x32xf32>) {
  %0 = tt.broadcast %a : tensor<1x32xf32> -> tensor<64x32xf16>
  tt.return
}
