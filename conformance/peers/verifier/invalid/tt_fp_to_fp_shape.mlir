// rule: tt.fp_to_fp: the shape stays
tt.func public @k(%a: tensor<64xf16>) {
  %0 = tt.fp_to_fp %a : tensor<64xf16> -> tensor<1x64xf32>
  tt.return
}
