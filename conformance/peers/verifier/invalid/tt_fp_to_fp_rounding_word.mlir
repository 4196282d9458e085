// rule: tt.fp_to_fp: the rounding is a known word
tt.func public @k(%a: tensor<64xf32>) {
  %0 = tt.fp_to_fp %a, rounding = rtp : tensor<64xf32> -> tensor<64xf8E4M3FN>
  tt.return
}
