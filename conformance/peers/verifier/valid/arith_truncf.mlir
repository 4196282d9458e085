// shows: arith.truncf: from f32 to bf16
tt.func public @k(%x: f32, %y: tensor<64xf32>) {
  %0 = arith.truncf %x : f32 to bf16
  %1 = arith.truncf %y : tensor<64xf32> to tensor<64xbf16>
  tt.return
}
