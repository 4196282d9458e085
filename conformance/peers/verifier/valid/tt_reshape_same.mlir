// shows: tt.reshape: to the same shape
tt.func public @k(%a: tensor<64x32xf16>) {
  %0 = tt.reshape %a : tensor<64x32xf16> -> tensor<64x32xf16>
  tt.return
}
