// shows: math.acos: a scalar and a tensor
tt.func public @k(%x: f32, %y: tensor<64xf16>) {
  %0 = math.acos %x : f32
  %1 = math.acos %y : tensor<64xf16>
  tt.return
}
