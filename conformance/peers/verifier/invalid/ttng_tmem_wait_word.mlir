// rule: ttng.tmem_wait: load or store
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k() {
    ttng.tmem_wait all
    tt.return
  }
}
