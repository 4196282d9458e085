// rule: ttg.barrier: the memory's name is known
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k() {
    ttg.barrier somewhere
    tt.return
  }
}
