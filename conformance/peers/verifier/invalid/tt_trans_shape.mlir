// rule: tt.trans: the result has the permuted shape
tt.func public @k(%a: tensor<32x64xf32>) {
  %0 = tt.trans %a {order = array<i32: 1, 0>} : tensor<32x64xf32> -> tensor<32x64xf32>
  tt.return
}
