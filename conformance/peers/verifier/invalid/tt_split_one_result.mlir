// rule: tt.split: two results
tt.func public @k(%a: tensor<32x2xf32>) {
  %0 = tt.split %a : tensor<32x2xf32> -> tensor<32xf32>
  tt.return
}
