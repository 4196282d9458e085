// rule: tt.histogram: the source is of integers
tt.func public @k(%a: tensor<64xf32>) {
  %0 = tt.histogram %a : tensor<64xf32> -> tensor<16xi32>
  tt.return
}
