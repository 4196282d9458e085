// rule: an mbarrier of several blocks has them in order
#b = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0], CGALayout = [[2], [1]]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 4 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%b: !ttg.memdesc<4xi64, #b, #smem, mutable>) {
    %c = arith.constant 0 : i32
    ttng.wait_barrier %b, %c : !ttg.memdesc<4xi64, #b, #smem, mutable>
    tt.return
  }
}
