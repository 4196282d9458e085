// rule: ttng.tmem_load: it loads from tensor memory
#v2 = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
#tl = #ttg.blocked<{sizePerThread = [1, 128], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1], order = [0, 1]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k() {
    %m = ttg.local_alloc : () -> !ttg.memdesc<128x128xf32, #v2, #smem, mutable>
    %0 = ttng.tmem_load %m : !ttg.memdesc<128x128xf32, #v2, #smem, mutable> -> tensor<128x128xf32, #tl>
    tt.return
  }
}
