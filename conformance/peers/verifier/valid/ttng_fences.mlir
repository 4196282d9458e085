// shows: fences and a barrier of the cluster
module attributes {"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k() {
    ttng.fence_async_shared {bCluster = false}
    ttng.fence_async_shared {bCluster = true}
    ttng.fence_mbarrier_init_release_cluster
    ttng.cluster_barrier
    ttng.cluster_barrier {relaxed = true}
    tt.return
  }
}
