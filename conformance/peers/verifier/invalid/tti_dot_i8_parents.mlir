// rule: operands and result of tti.dot_i8 have one layout of mma.sync
#m = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
#n = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>
#p = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #m, kWidth = 4}>
#b = #ttg.dot_op<{opIdx = 1, parent = #n, kWidth = 4}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%a: tensor<64x32xi8, #a>, %b: tensor<32x16xi8, #b>, %c: tensor<64x16xi32, #m>) {
    %0 = tti.dot_i8 %a, %b, %c, aSigned = true, bSigned = false : tensor<64x32xi8, #a> * tensor<32x16xi8, #b> -> tensor<64x16xi32, #m>
    tt.return
  }
}
