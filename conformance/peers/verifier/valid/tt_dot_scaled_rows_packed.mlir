// shows: tt.dot_scaled: e2m1 packed along the rows
tt.func public @k(%a: tensor<32x128xi8>, %b: tensor<128x32xbf16>, %s: tensor<64x4xi8>, %c: tensor<64x32xf32>) {
  %0 = tt.dot_scaled %a scale %s, %b, %c lhs = e2m1 rhs = bf16 {fastMath = false, lhs_k_pack = false} : tensor<32x128xi8>, tensor<64x4xi8> * tensor<128x32xbf16> -> tensor<64x32xf32>
  tt.return
}
