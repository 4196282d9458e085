// rule: the axes of a layout have powers of two, also in the allocation
#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%m: !ttg.memdesc<4x8xf32, #s, #ttg.shared_memory, mutable, 6x8>) {
    tt.return
  }
}
