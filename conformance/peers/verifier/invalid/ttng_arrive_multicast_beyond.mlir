// rule: ttng.arrive_barrier: multicastCTA is a block of the cluster
#smem = #ttg.shared_memory
#bb = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0], CGALayout = [[1]]}>
module attributes {"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k() {
    %b = ttg.local_alloc : () -> !ttg.memdesc<2xi64, #bb, #smem, mutable>
    ttng.arrive_barrier %b, 1 {multicastCTA = 2 : i32} : !ttg.memdesc<2xi64, #bb, #smem, mutable>
    tt.return
  }
}
