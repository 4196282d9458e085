// shows: math.atanh: a scalar and a tensor
tt.func public @k(%x: f32, %y: tensor<64xf16>) {
  %0 = math.atanh %x : f32
  %1 = math.atanh %y : tensor<64xf16>
  tt.return
}
