// shows: tt.reshape: rows joined, and split again
tt.func public @k(%a: tensor<64x32xf16>) {
  %0 = tt.reshape %a : tensor<64x32xf16> -> tensor<2048xf16>
  %1 = tt.reshape %0 : tensor<2048xf16> -> tensor<8x8x32xf16>
  tt.return
}
