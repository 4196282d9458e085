// shows: math.erfc: a scalar and a tensor
tt.func public @k(%x: f32, %y: tensor<64xf16>) {
  %0 = math.erfc %x : f32
  %1 = math.erfc %y : tensor<64xf16>
  tt.return
}
