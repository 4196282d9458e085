// shows: math.cos: a scalar and a tensor
tt.func public @k(%x: f32, %y: tensor<64xf16>) {
  %0 = math.cos %x : f32
  %1 = math.cos %y : tensor<64xf16>
  tt.return
}
