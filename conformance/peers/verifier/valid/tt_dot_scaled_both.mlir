// shows: tt.dot_scaled: both operands with scales of 16 elements
tt.func public @k(%a: tensor<64x64xi8>, %s: tensor<64x8xf8E4M3FN>, %b: tensor<64x32xi8>, %t: tensor<32x8xf8E4M3FN>, %c: tensor<64x32xf32>) {
  %0 = tt.dot_scaled %a scale %s, %b scale %t, %c lhs = e2m1 rhs = e2m1 {fastMath = true} : tensor<64x64xi8>, tensor<64x8xf8E4M3FN> * tensor<64x32xi8>, tensor<32x8xf8E4M3FN> -> tensor<64x32xf32>
  tt.return
}
