// rule: ttng.tmem_store: the value's layout is one that tensor memory takes
#b2t = #ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [4, 8], warpsPerCTA = [1, 4], order = [0, 1]}>
#tm = #ttng.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>
#tmem = #ttng.tensor_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%v: tensor<128x128xf32, #b2t>, %t: i1) {
    %m = ttng.tmem_alloc : () -> !ttg.memdesc<128x128xf32, #tm, #tmem, mutable>
    ttng.tmem_store %v, %m, %t : tensor<128x128xf32, #b2t> -> !ttg.memdesc<128x128xf32, #tm, #tmem, mutable>
    tt.return
  }
}
