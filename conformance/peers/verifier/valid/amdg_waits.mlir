// shows: waits of the amdg dialect and its barriers
module attributes {"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx1250", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%p: i1) {
    %t = ttg.async_commit_group
    %0 = amdg.async_wait {num_inst = 0 : i32}
    %1 = amdg.async_wait %t {num_inst = 1 : i32}
    %2 = amdg.async_tdm_wait %t {num = 0 : i32}
    %3 = amdg.async_tdm_intrinsic_wait {count = 0 : i32}
    %4 = amdg.async_tdm_intrinsic_wait %t {count = 1 : i32}
    amdg.cond_barrier %p
    amdg.cluster_barrier_arrive
    amdg.cluster_barrier_wait
    tt.return
  }
}
