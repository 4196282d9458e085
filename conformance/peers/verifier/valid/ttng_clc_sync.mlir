// shows: ttng.clc_try_cancel_sync: an answer in registers
#x = #ttg.blocked<{sizePerThread = [2], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k() {
    %0 = ttng.clc_try_cancel_sync : tensor<2xi64, #x>
    tt.return
  }
}
