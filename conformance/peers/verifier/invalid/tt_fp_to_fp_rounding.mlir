// rule: tt.fp_to_fp: to fewer bits takes a rounding
tt.func public @k(%a: tensor<64xf32>) {
  %0 = tt.fp_to_fp %a : tensor<64xf32> -> tensor<64xf8E4M3FN>
  tt.return
}
