// rule: ttg.memdesc_reinterpret: shared memory stays shared memory
#v2 = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
#tm = #ttng.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>
#tmem = #ttng.tensor_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k() {
    %m = ttng.tmem_alloc : () -> !ttg.memdesc<128x128xf32, #tm, #tmem, mutable>
    %0 = ttg.memdesc_reinterpret %m : !ttg.memdesc<128x128xf32, #tm, #tmem, mutable> -> !ttg.memdesc<64x32xf16, #v2, #smem, mutable>
    tt.return
  }
}
