// shows: some layouts ignore parameters that they do not have
#x = #ttg.linear<{register = [], lane = [[1], [2], [4], [8], [16]], warp = [], block = [], order = [0]}>
#y = #ttg.amd_mfma<{version = 3, warpsPerCTA = [1, 1], instrShape = [32, 32, 8], isTransposed = true, blocks = 1}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k() {
    tt.return
  }
}
