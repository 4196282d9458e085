// shows: ttg.global_scratch_alloc: plain, of others, of the cluster
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k() {
    %0 = ttg.global_scratch_alloc {alignment = 128 : i32, nbytes = 256 : i32} : !tt.ptr<i8>
    %1 = ttg.global_scratch_alloc {alignment = 16 : i32, nbytes = 16 : i32, third_party_allocation} : !tt.ptr<i8>
    %2 = ttg.global_scratch_alloc {alignment = 16 : i32, nbytes = 16 : i32, shared_cluster_state} : !tt.ptr<i32>
    tt.return
  }
}
