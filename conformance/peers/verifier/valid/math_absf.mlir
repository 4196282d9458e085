// shows: math.absf: a scalar and a tensor
tt.func public @k(%x: f32, %y: tensor<64xf16>) {
  %0 = math.absf %x : f32
  %1 = math.absf %y : tensor<64xf16>
  tt.return
}
