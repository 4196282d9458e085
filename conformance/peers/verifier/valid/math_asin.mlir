// shows: math.asin: a scalar and a tensor
tt.func public @k(%x: f32, %y: tensor<64xf16>) {
  %0 = math.asin %x : f32
  %1 = math.asin %y : tensor<64xf16>
  tt.return
}
