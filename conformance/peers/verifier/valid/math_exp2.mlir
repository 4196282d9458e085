// shows: math.exp2: a scalar and a tensor
tt.func public @k(%x: f32, %y: tensor<64xf16>) {
  %0 = math.exp2 %x : f32
  %1 = math.exp2 %y : tensor<64xf16>
  tt.return
}
