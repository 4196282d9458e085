// shows: math.sinh: a scalar and a tensor
tt.func public @k(%x: f32, %y: tensor<64xf16>) {
  %0 = math.sinh %x : f32
  %1 = math.sinh %y : tensor<64xf16>
  tt.return
}
