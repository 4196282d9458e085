// shows: math.cosh: a scalar and a tensor
tt.func public @k(%x: f32, %y: tensor<64xf16>) {
  %0 = math.cosh %x : f32
  %1 = math.cosh %y : tensor<64xf16>
  tt.return
}
