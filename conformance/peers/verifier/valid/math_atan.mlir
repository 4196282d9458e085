// shows: math.atan: a scalar and a tensor
tt.func public @k(%x: f32, %y: tensor<64xf16>) {
  %0 = math.atan %x : f32
  %1 = math.atan %y : tensor<64xf16>
  tt.return
}
