// shows: math.erf: a scalar and a tensor
tt.func public @k(%x: f32, %y: tensor<64xf16>) {
  %0 = math.erf %x : f32
  %1 = math.erf %y : tensor<64xf16>
  tt.return
}
