// rule: tt.join: the result has a last axis of 2
tt.func public @k(%a: tensor<32xf32>, %b: tensor<32xf32>) {
  %0 = tt.join %a, %b : tensor<32xf32> -> tensor<2x32xf32>
  tt.return
}
