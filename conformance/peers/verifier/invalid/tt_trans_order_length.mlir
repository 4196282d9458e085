// rule: tt.trans: order has as many numbers as the tensor axes
tt.func public @k(%a: tensor<32x64xf32>) {
  %0 = tt.trans %a {order = array<i32: 1, 0, 2>} : tensor<32x64xf32> -> tensor<64x32xf32>
  tt.return
}
