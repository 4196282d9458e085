// rule: tt.join: the element type stays
tt.func public @k(%a: tensor<32xf32>, %b: tensor<32xf32>) {
  %0 = tt.join %a, %b : tensor<32xf32> -> tensor<32x2xi32>
  tt.return
}
