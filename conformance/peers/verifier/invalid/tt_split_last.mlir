// rule: tt.split: the last axis is of length 2
tt.func public @k(%a: tensor<32x4xf32>) {
  %0, %1 = tt.split %a : tensor<32x4xf32> -> tensor<32xf32>
  tt.return
}
