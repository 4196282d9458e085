// shows: math.rsqrt: a scalar and a tensor
tt.func public @k(%x: f32, %y: tensor<64xf16>) {
  %0 = math.rsqrt %x : f32
  %1 = math.rsqrt %y : tensor<64xf16>
  tt.return
}
