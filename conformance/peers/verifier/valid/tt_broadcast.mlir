// shows: tt.broadcast: one axis, both, none
tt.func public @k(%a: tensor<1x32xf32>, %b: tensor<1x1xf32>, %c: tensor<8x32xf32>) {
  %0 = tt.broadcast %a : tensor<1x32xf32> -> tensor<64x32xf32>
  %1 = tt.broadcast %b : tensor<1x1xf32> -> tensor<64x32xf32>
  %2 = tt.broadcast %c : tensor<8x32xf32> -> tensor<8x32xf32>
  tt.return
}
