// rule: ttg.threads-per-warp stands on the module
module attributes {"ttg.num-warps" = 4 : i32} {
  tt.func public @k() attributes {"ttg.threads-per-warp" = 32 : i32} {
    tt.return
  }
}
