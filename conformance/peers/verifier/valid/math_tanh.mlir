// shows: math.tanh: a scalar and a tensor
tt.func public @k(%x: f32, %y: tensor<64xf16>) {
  %0 = math.tanh %x : f32
  %1 = math.tanh %y : tensor<64xf16>
  tt.return
}
