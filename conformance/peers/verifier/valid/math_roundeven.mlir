// shows: math.roundeven: a scalar and a tensor
tt.func public @k(%x: f32, %y: tensor<64xf16>) {
  %0 = math.roundeven %x : f32
  %1 = math.roundeven %y : tensor<64xf16>
  tt.return
}
