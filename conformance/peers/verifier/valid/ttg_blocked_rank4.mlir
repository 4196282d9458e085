// shows: #ttg.blocked: four axes
#x = #ttg.blocked<{sizePerThread = [1, 1, 1, 2], threadsPerWarp = [1, 2, 4, 4], warpsPerCTA = [2, 2, 1, 1], order = [3, 2, 1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%a: tensor<2x4x8x16xf32, #x>) {
    %0 = tt.precise_sqrt %a : tensor<2x4x8x16xf32, #x>
    tt.return
  }
}
