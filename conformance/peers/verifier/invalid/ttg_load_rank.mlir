// rule: ttg.local_load: not all of several buffers at once
#b3 = #ttg.blocked<{sizePerThread = [1, 1, 2], threadsPerWarp = [4, 8, 1], warpsPerCTA = [4, 1, 1], order = [2, 1, 0]}>
#v2 = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k() {
    %m = ttg.local_alloc : () -> !ttg.memdesc<2x32x32xf16, #v2, #smem, mutable>
    %0 = ttg.local_load %m : !ttg.memdesc<2x32x32xf16, #v2, #smem, mutable> -> tensor<2x32x32xf16, #b3>
    tt.return
  }
}
