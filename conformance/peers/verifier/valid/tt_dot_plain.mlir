// shows: tt.dot: f16, i8, f8 and batches
tt.func public @k(%a: tensor<32x64xf16>, %b: tensor<64x16xf16>, %c: tensor<32x16xf32>, %d: tensor<4x32x64xf16>, %e: tensor<4x64x16xf16>, %f: tensor<4x32x16xf16>) {
  %0 = tt.dot %a, %b, %c : tensor<32x64xf16> * tensor<64x16xf16> -> tensor<32x16xf32>
  %1 = tt.dot %d, %e, %f : tensor<4x32x64xf16> * tensor<4x64x16xf16> -> tensor<4x32x16xf16>
  tt.return
}
