// rule: tt.reshape: the element type stays
tt.func public @k(%a: tensor<64x32xf16>) {
  %0 = tt.reshape %a : tensor<64x32xf16> -> tensor<2048xbf16>
  tt.return
}
