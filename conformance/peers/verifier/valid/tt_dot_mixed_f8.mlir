// shows: tt.dot: two kinds of f8, equally wide
tt.func public @k(%a: tensor<32x64xf8E4M3FN>, %b: tensor<64x16xf8E5M2>, %c: tensor<32x16xf32>) {
  %0 = tt.dot %a, %b, %c : tensor<32x64xf8E4M3FN> * tensor<64x16xf8E5M2> -> tensor<32x16xf32>
  tt.return
}
