// shows: math.asinh: a scalar and a tensor
tt.func public @k(%x: f32, %y: tensor<64xf16>) {
  %0 = math.asinh %x : f32
  %1 = math.asinh %y : tensor<64xf16>
  tt.return
}
