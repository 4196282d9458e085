// shows: math.sin: a scalar and a tensor
tt.func public @k(%x: f32, %y: tensor<64xf16>) {
  %0 = math.sin %x : f32
  %1 = math.sin %y : tensor<64xf16>
  tt.return
}
