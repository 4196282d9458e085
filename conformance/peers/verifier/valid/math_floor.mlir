// shows: math.floor: a scalar and a tensor
tt.func public @k(%x: f32, %y: tensor<64xf16>) {
  %0 = math.floor %x : f32
  %1 = math.floor %y : tensor<64xf16>
  tt.return
}
