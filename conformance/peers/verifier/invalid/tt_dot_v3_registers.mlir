// rule: tt.dot: both operands and the result are of one version of matrix instructions
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
#mma3 = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#db = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
#da3 = #ttg.dot_op<{opIdx = 0, parent = #mma3, kWidth = 2}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%a: tensor<64x64xf16, #da3>, %b: tensor<64x64xf16, #db>, %c: tensor<64x64xf32, #mma3>) {
    %0 = tt.dot %a, %b, %c : tensor<64x64xf16, #da3> * tensor<64x64xf16, #db> -> tensor<64x64xf32, #mma3>
    tt.return
  }
}
