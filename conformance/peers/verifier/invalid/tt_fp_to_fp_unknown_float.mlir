// rule: tt.fp_to_fp: f8E8M0FNU is not among its floats
tt.func public @k(%a: tensor<64xf32>) {
  %0 = tt.fp_to_fp %a, rounding = rtne : tensor<64xf32> -> tensor<64xf8E8M0FNU>
  tt.return
}
