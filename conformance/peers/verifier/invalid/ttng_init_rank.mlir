// rule: ttng.init_barrier: the memory has one axis
#v2 = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k() {
    %b = ttg.local_alloc : () -> !ttg.memdesc<1x1xi64, #v2, #smem, mutable>
    ttng.init_barrier %b, 1 : !ttg.memdesc<1x1xi64, #v2, #smem, mutable>
    tt.return
  }
}
