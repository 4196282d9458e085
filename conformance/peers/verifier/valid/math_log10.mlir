// shows: math.log10: a scalar and a tensor
tt.func public @k(%x: f32, %y: tensor<64xf16>) {
  %0 = math.log10 %x : f32
  %1 = math.log10 %y : tensor<64xf16>
  tt.return
}
