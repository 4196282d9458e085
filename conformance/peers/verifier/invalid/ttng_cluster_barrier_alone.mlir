// rule: ttng.cluster_barrier: there is a cluster
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k() {
    ttng.cluster_barrier
    tt.return
  }
}
