// rule: ttng.arrive_barrier: fromCTA takes an mbarrier in each block
#smem = #ttg.shared_memory
#x = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0], CGALayout = [[0]]}>
module attributes {"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k() {
    %b = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #x, #smem, mutable>
    ttng.arrive_barrier %b, 1 {fromCTA = 0 : i32} : !ttg.memdesc<1xi64, #x, #smem, mutable>
    tt.return
  }
}
