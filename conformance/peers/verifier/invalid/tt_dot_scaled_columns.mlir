// rule: tt.dot_scaled: B's scales have as many rows as the result has columns
tt.func public @k(%a: tensor<64x128xf8E5M2>, %b: tensor<128x32xf8E5M2>, %s: tensor<64x4xi8>, %c: tensor<64x32xf32>) {
  %0 = tt.dot_scaled %a, %b scale %s, %c lhs = e5m2 rhs = e5m2 {fastMath = true} : tensor<64x128xf8E5M2> * tensor<128x32xf8E5M2>, tensor<64x4xi8> -> tensor<64x32xf32>
  tt.return
}
