// shows: tt.join and tt.split: the last axis in one thread
#b1 = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#j = #ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%a: tensor<128xf32, #b1>) {
    %0 = tt.join %a, %a : tensor<128xf32, #b1> -> tensor<128x2xf32, #j>
    %1, %2 = tt.split %0 : tensor<128x2xf32, #j> -> tensor<128xf32, #b1>
    tt.return
  }
}
