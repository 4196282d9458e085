// shows: tt.trans: two axes, three axes, none moved
tt.func public @k(%a: tensor<32x64xf32>, %b: tensor<2x4x8xi8>) {
  %0 = tt.trans %a {order = array<i32: 1, 0>} : tensor<32x64xf32> -> tensor<64x32xf32>
  %1 = tt.trans %b {order = array<i32: 2, 0, 1>} : tensor<2x4x8xi8> -> tensor<8x2x4xi8>
  %2 = tt.trans %b {order = array<i32: 0, 1, 2>} : tensor<2x4x8xi8> -> tensor<2x4x8xi8>
  tt.return
}
