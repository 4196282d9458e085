// shows: math.acosh: a scalar and a tensor
tt.func public @k(%x: f32, %y: tensor<64xf16>) {
  %0 = math.acosh %x : f32
  %1 = math.acosh %y : tensor<64xf16>
  tt.return
}
