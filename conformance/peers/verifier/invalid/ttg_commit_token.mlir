// rule: ttg.async_commit_group: it takes tokens
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%t: i64) {
    %0 = ttg.async_commit_group tokens %t
    tt.return
  }
}
