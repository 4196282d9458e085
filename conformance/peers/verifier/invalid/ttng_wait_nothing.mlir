// rule: ttng.warp_group_dot_wait: it waits for something
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k() {
    "ttng.warp_group_dot_wait"() <{pendings = 0 : i32}> : () -> ()
    tt.return
  }
}
