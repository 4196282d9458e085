// shows: math.exp: a scalar and a tensor
tt.func public @k(%x: f32, %y: tensor<64xf16>) {
  %0 = math.exp %x : f32
  %1 = math.exp %y : tensor<64xf16>
  tt.return
}
