// shows: a module for cuda:80, with 32 threads in a warp
#x = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [2, 1], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 2 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%a: tensor<64x64xf32, #x>) {
    %0 = tt.precise_sqrt %a : tensor<64x64xf32, #x>
    tt.return
  }
}
