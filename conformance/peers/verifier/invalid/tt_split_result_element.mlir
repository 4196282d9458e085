// rule: tt.split: the element type stays
tt.func public @k(%a: tensor<32x2xf32>) {
  %0, %1 = tt.split %a : tensor<32x2xf32> -> tensor<32xi32>
  tt.return
}
