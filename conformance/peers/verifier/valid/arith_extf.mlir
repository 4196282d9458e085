// shows: arith.extf: from f16 to f32
tt.func public @k(%x: f16, %y: tensor<64xf16>) {
  %0 = arith.extf %x : f16 to f32
  %1 = arith.extf %y : tensor<64xf16> to tensor<64xf32>
  tt.return
}
