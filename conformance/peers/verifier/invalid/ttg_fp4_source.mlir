// rule: ttg.fp4_to_fp: the source is of i8
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%a: tensor<64x32xi16>) {
    %0 = ttg.fp4_to_fp %a {axis = 1 : i32} : tensor<64x32xi16> -> tensor<64x64xf16>
    tt.return
  }
}
