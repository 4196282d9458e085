// shows: math.trunc: a scalar and a tensor
tt.func public @k(%x: f32, %y: tensor<64xf16>) {
  %0 = math.trunc %x : f32
  %1 = math.trunc %y : tensor<64xf16>
  tt.return
}
