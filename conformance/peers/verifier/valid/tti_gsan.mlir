// shows: tti: marks of the sanitizer of global memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%p: !tt.ptr<i32>) {
    tti.experimental_gsan_init
    tti.experimental_gsan_kernel_exit
    tti.experimental_gsan_grid_dependency_wait
    tti.experimental_gsan_cluster_barrier_init %p : !tt.ptr<i32>
    tti.experimental_gsan_cluster_barrier_sync %p : !tt.ptr<i32>
    tti.experimental_gsan_tensor_access %p, true : !tt.ptr<i32>
    tt.return
  }
}
