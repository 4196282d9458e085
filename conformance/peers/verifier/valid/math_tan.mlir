// shows: math.tan: a scalar and a tensor
tt.func public @k(%x: f32, %y: tensor<64xf16>) {
  %0 = math.tan %x : f32
  %1 = math.tan %y : tensor<64xf16>
  tt.return
}
