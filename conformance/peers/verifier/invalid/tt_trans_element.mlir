// rule: tt.trans: the element type stays
tt.func public @k(%a: tensor<32x64xf32>) {
  %0 = tt.trans %a {order = array<i32: 1, 0>} : tensor<32x64xf32> -> tensor<64x32xi32>
  tt.return
}
