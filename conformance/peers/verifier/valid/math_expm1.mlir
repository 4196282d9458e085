// shows: math.expm1: a scalar and a tensor
tt.func public @k(%x: f32, %y: tensor<64xf16>) {
  %0 = math.expm1 %x : f32
  %1 = math.expm1 %y : tensor<64xf16>
  tt.return
}
