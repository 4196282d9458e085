// rule: ttng.tmem_alloc: the memory is tensor memory
#v2 = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k() {
    %0 = ttng.tmem_alloc : () -> !ttg.memdesc<128x128xf32, #v2, #smem, mutable>
    tt.return
  }
}
