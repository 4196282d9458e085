// rule: ttng.tmem_load: NaN is of a reduction
#tm = #ttng.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>
#tmem = #ttng.tensor_memory
#tl = #ttg.blocked<{sizePerThread = [1, 128], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1], order = [0, 1]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k() {
    %m = ttng.tmem_alloc : () -> !ttg.memdesc<128x128xf32, #tm, #tmem, mutable>
    %0 = ttng.tmem_load %m {NaN = true} : !ttg.memdesc<128x128xf32, #tm, #tmem, mutable> -> tensor<128x128xf32, #tl>
    tt.return
  }
}
