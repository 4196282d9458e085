// shows: math.log1p: a scalar and a tensor
tt.func public @k(%x: f32, %y: tensor<64xf16>) {
  %0 = math.log1p %x : f32
  %1 = math.log1p %y : tensor<64xf16>
  tt.return
}
