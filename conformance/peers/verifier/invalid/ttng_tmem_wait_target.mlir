// rule: ttng.tmem_wait: a target with tensor memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k() {
    ttng.tmem_wait load
    tt.return
  }
}
