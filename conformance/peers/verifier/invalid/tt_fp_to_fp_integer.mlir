// rule: tt.fp_to_fp: both are floats
tt.func public @k(%a: tensor<64xf32>) {
  %0 = tt.fp_to_fp %a, rounding = rtne : tensor<64xf32> -> tensor<64xi8>
  tt.return
}
