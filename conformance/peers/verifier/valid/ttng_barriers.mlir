// shows: mbarriers: made, expecting, arriving, waited for, taken back
#v1 = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%p: i1, %i: i32) {
    %b = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #v1, #smem, mutable>
    ttng.init_barrier %b, 1 : !ttg.memdesc<1xi64, #v1, #smem, mutable>
    ttng.barrier_expect %b, 4096, %p : !ttg.memdesc<1xi64, #v1, #smem, mutable>
    ttng.arrive_barrier %b, 1 : !ttg.memdesc<1xi64, #v1, #smem, mutable>
    ttng.arrive_barrier %b, 2, %p : !ttg.memdesc<1xi64, #v1, #smem, mutable>
    ttng.wait_barrier %b, %i : !ttg.memdesc<1xi64, #v1, #smem, mutable>
    ttng.wait_barrier %b, %i, %p : !ttg.memdesc<1xi64, #v1, #smem, mutable>
    ttng.inval_barrier %b : !ttg.memdesc<1xi64, #v1, #smem, mutable>
    tt.return
  }
}
