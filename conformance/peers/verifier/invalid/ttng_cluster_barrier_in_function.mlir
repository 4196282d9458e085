// rule: ttng.cluster_barrier: it stands in a kernel, not in a function that is called
module attributes {"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func private @inner() attributes {noinline = true} {
    ttng.cluster_barrier
    tt.return
  }
}
