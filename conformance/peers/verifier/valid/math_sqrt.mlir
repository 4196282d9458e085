// shows: math.sqrt: a scalar and a tensor
tt.func public @k(%x: f32, %y: tensor<64xf16>) {
  %0 = math.sqrt %x : f32
  %1 = math.sqrt %y : tensor<64xf16>
  tt.return
}
