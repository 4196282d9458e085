// rule: amdg.cluster_barrier_wait: there is a cluster
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx1250", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k() {
    amdg.cluster_barrier_wait
    tt.return
  }
}
