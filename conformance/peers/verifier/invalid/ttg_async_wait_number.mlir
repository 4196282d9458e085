// rule: ttg.async_wait: num is said
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k() {
    %0 = ttg.async_wait
    tt.return
  }
}
