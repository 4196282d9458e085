// rule: ttng.tmem_subslice: the element type stays
#tm = #ttng.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>
#tmem = #ttng.tensor_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k() {
    %m = ttng.tmem_alloc : () -> !ttg.memdesc<128x128xf32, #tm, #tmem, mutable>
    %0 = ttng.tmem_subslice %m {offset = 0 : i32} : !ttg.memdesc<128x128xf32, #tm, #tmem, mutable> -> !ttg.memdesc<128x64xi32, #tm, #tmem, mutable, 128x128>
    tt.return
  }
}
