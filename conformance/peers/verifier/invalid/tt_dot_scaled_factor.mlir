// rule: tt.dot_scaled: a scale is of 16 or 32 elements
tt.func public @k(%a: tensor<64x64xi8>, %s: tensor<64x16xi8>, %b: tensor<128x32xf8E4M3FN>, %c: tensor<64x32xf32>) {
  %0 = tt.dot_scaled %a scale %s, %b, %c lhs = e2m1 rhs = e4m3 {fastMath = false} : tensor<64x64xi8>, tensor<64x16xi8> * tensor<128x32xf8E4M3FN> -> tensor<64x32xf32>
  tt.return
}
