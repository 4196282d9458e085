// shows: math.ceil: a scalar and a tensor
tt.func public @k(%x: f32, %y: tensor<64xf16>) {
  %0 = math.ceil %x : f32
  %1 = math.ceil %y : tensor<64xf16>
  tt.return
}
