// rule: tt.trans: order is a permutation
tt.func public @k(%a: tensor<32x32xf32>) {
  %0 = tt.trans %a {order = array<i32: 1, 1>} : tensor<32x32xf32> -> tensor<32x32xf32>
  tt.return
}
