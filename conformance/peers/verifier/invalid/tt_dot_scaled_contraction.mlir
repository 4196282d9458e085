// rule: tt.dot_scaled: the contracted axes agree, packed e2m1 counted twice
tt.func public @k(%a: tensor<64x64xi8>, %b: tensor<64x32xf8E4M3FN>, %c: tensor<64x32xf32>) {
  %0 = tt.dot_scaled %a, %b, %c lhs = e2m1 rhs = e4m3 {fastMath = false} : tensor<64x64xi8> * tensor<64x32xf8E4M3FN> -> tensor<64x32xf32>
  tt.return
}
