// shows: ttng.arrive_barrier, ttng.barrier_expect: of one block of a cluster
#smem = #ttg.shared_memory
#bb = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0], CGALayout = [[1]]}>
module attributes {"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%p: i1) {
    %b = ttg.local_alloc : () -> !ttg.memdesc<2xi64, #bb, #smem, mutable>
    ttng.arrive_barrier %b, 1 {fromCTA = 0 : i32} : !ttg.memdesc<2xi64, #bb, #smem, mutable>
    ttng.barrier_expect %b, 64 {fromCTA = 1 : i32}, %p : !ttg.memdesc<2xi64, #bb, #smem, mutable>
    tt.return
  }
}
