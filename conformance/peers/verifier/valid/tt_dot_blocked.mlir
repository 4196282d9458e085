// shows: tt.dot: operands of a blocked result
#b2 = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#fa = #ttg.dot_op<{opIdx = 0, parent = #b2}>
#fb = #ttg.dot_op<{opIdx = 1, parent = #b2}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%a: tensor<64x64xf32, #fa>, %b: tensor<64x64xf32, #fb>, %c: tensor<64x64xf32, #b2>) {
    %0 = tt.dot %a, %b, %c : tensor<64x64xf32, #fa> * tensor<64x64xf32, #fb> -> tensor<64x64xf32, #b2>
    tt.return
  }
}
