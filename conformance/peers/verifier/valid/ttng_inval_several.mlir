// shows: ttng.inval_barrier: one mbarrier in each block
#smem = #ttg.shared_memory
#bb = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0], CGALayout = [[1]]}>
module attributes {"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k() {
    %b = ttg.local_alloc : () -> !ttg.memdesc<2xi64, #bb, #smem, mutable>
    ttng.init_barrier %b, 1 : !ttg.memdesc<2xi64, #bb, #smem, mutable>
    ttng.inval_barrier %b : !ttg.memdesc<2xi64, #bb, #smem, mutable>
    tt.return
  }
}
