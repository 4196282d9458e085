// shows: tt.dot: f16 by bf16 is not looked at, both are of 16 bits
tt.func public @k(%a: tensor<32x64xf16>, %b: tensor<64x16xbf16>, %c: tensor<32x16xf32>) {
  %0 = tt.dot %a, %b, %c : tensor<32x64xf16> * tensor<64x16xbf16> -> tensor<32x16xf32>
  tt.return
}
