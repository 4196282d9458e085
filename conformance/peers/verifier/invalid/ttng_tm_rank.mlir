// rule: !ttg.memdesc: tensor memory has two axes, or three
#tm = #ttng.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>
#tmem = #ttng.tensor_memory

module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k() {
    %m = ttng.tmem_alloc : () -> !ttg.memdesc<128xf32, #tm, #tmem, mutable>
    tt.return
  }
}
