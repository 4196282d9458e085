// rule: ttng.tc_gen5_commit: each block has an mbarrier
#b = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0], CGALayout = [[1], [0]]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 4 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%b: !ttg.memdesc<2xi64, #b, #smem, mutable>) {
    ttng.tc_gen5_commit %b : !ttg.memdesc<2xi64, #b, #smem, mutable>
    tt.return
  }
}
