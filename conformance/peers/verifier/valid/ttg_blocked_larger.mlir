// shows: #ttg.blocked: a layout that is larger than its tensor
#b2 = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#b2t = #ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [4, 8], warpsPerCTA = [1, 4], order = [0, 1]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%a: tensor<4x4xf32, #b2>, %b: tensor<1x64xf32, #b2t>) {
    %0 = tt.precise_sqrt %a : tensor<4x4xf32, #b2>
    %1 = tt.precise_sqrt %b : tensor<1x64xf32, #b2t>
    tt.return
  }
}
