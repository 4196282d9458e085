// shows: math.cbrt: a scalar and a tensor
tt.func public @k(%x: f32, %y: tensor<64xf16>) {
  %0 = math.cbrt %x : f32
  %1 = math.cbrt %y : tensor<64xf16>
  tt.return
}
