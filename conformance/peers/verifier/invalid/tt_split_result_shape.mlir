// rule: tt.split: the results lack the last axis
tt.func public @k(%a: tensor<32x2xf32>) {
  %0, %1 = tt.split %a : tensor<32x2xf32> -> tensor<16xf32>
  tt.return
}
