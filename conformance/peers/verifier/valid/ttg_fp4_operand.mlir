// shows: ttg.fp4_to_fp: operands of a product, kWidth twice
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
#da = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#x = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 4}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%a: tensor<64x32xi8, #da>) {
    %0 = ttg.fp4_to_fp %a {axis = 1 : i32} : tensor<64x32xi8, #da> -> tensor<64x64xbf16, #x>
    tt.return
  }
}
