// rule: tt.dot_scaled: fastMath is said
tt.func public @k(%a: tensor<64x128xf8E5M2>, %b: tensor<128x32xf8E5M2>, %c: tensor<64x32xf32>) {
  %0 = tt.dot_scaled %a, %b, %c lhs = e5m2 rhs = e5m2 : tensor<64x128xf8E5M2> * tensor<128x32xf8E5M2> -> tensor<64x32xf32>
  tt.return
}
