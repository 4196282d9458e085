// rule: ttg.warp_id: the result is i32
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k() {
    %0 = "ttg.warp_id"() : () -> i64
    tt.return
  }
}
