// rule: tt.dot: both operands' layouts have one kWidth
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
#da = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#wide = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 4}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%a: tensor<64x64xf16, #da>, %b: tensor<64x64xf16, #wide>, %c: tensor<64x64xf32, #mma>) {
    %0 = tt.dot %a, %b, %c : tensor<64x64xf16, #da> * tensor<64x64xf16, #wide> -> tensor<64x64xf32, #mma>
    tt.return
  }
}
