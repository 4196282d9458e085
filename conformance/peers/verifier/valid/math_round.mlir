// shows: math.round: a scalar and a tensor
tt.func public @k(%x: f32, %y: tensor<64xf16>) {
  %0 = math.round %x : f32
  %1 = math.round %y : tensor<64xf16>
  tt.return
}
