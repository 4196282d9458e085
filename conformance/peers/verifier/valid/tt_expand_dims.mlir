// shows: tt.expand_dims: each place
tt.func public @k(%a: tensor<64x32xf32>) {
  %0 = tt.expand_dims %a {axis = 0 : i32} : tensor<64x32xf32> -> tensor<1x64x32xf32>
  %1 = tt.expand_dims %a {axis = 1 : i32} : tensor<64x32xf32> -> tensor<64x1x32xf32>
  %2 = tt.expand_dims %a {axis = 2 : i32} : tensor<64x32xf32> -> tensor<64x32x1xf32>
  tt.return
}
