// shows: math.log: a scalar and a tensor
tt.func public @k(%x: f32, %y: tensor<64xf16>) {
  %0 = math.log %x : f32
  %1 = math.log %y : tensor<64xf16>
  tt.return
}
