// rule: ttng.tc_gen5_commit: an mbarrier in each block
#smem = #ttg.shared_memory
#x = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0], CGALayout = [[0]]}>
module attributes {"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k() {
    %r = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #x, #smem, mutable>
    ttng.tc_gen5_commit %r : !ttg.memdesc<1xi64, #x, #smem, mutable>
    tt.return
  }
}
