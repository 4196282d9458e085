// rule: tt.cat: the element type stays
tt.func public @k(%a: tensor<32xf32>) {
  %0 = tt.cat %a, %a : tensor<32xf32> -> tensor<64xf16>
  tt.return
}
