// rule: tt.trans: order is said
tt.func public @k(%a: tensor<32x64xf32>) {
  %0 = tt.trans %a : tensor<32x64xf32> -> tensor<64x32xf32>
  tt.return
}
