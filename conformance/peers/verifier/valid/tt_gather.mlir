// shows: tt.gather: fewer elements, and along the first axis
tt.func public @k(%a: tensor<64x32xf32>, %i: tensor<16x32xi32>, %j: tensor<64x128xi16>) {
  %0 = tt.gather %a[%i] {axis = 0 : i32} : (tensor<64x32xf32>, tensor<16x32xi32>) -> tensor<16x32xf32>
  %1 = tt.gather %a[%j] {axis = 1 : i32} : (tensor<64x32xf32>, tensor<64x128xi16>) -> tensor<64x128xf32>
  tt.return
}
