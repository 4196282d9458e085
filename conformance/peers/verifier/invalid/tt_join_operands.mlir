// rule: tt.join: both operands have one type
tt.func public @k(%a: tensor<32xf32>, %b: tensor<32xf16>) {
  %0 = tt.join %a, %b : tensor<32xf32> -> tensor<32x2xf32>
  tt.return
}
