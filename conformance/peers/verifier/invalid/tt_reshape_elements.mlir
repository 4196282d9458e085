// rule: tt.reshape: as many elements as before
tt.func public @k(%a: tensor<64x32xf16>) {
  %0 = tt.reshape %a : tensor<64x32xf16> -> tensor<1024xf16>
  tt.return
}
