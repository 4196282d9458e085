// shows: ttg.convert_layout: to operands of a product
#b2 = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
#da = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>
#db = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 2}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%a: tensor<64x64xf16, #b2>, %c: tensor<64x64xf32, #mma>) {
    %0 = ttg.convert_layout %a : tensor<64x64xf16, #b2> -> tensor<64x64xf16, #da>
    %1 = ttg.convert_layout %a : tensor<64x64xf16, #b2> -> tensor<64x64xf16, #db>
    %2 = ttg.convert_layout %c : tensor<64x64xf32, #mma> -> tensor<64x64xf32, #b2>
    tt.return
  }
}
