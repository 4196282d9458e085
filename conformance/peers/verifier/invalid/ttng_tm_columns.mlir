// rule: #ttng.tensor_memory_encoding: blockN is a power of two
#tmem = #ttng.tensor_memory
#x = #ttng.tensor_memory_encoding<blockM = 128, blockN = 96, colStride = 1>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k() {
    %m = ttng.tmem_alloc : () -> !ttg.memdesc<128x128xf32, #x, #tmem, mutable>
    tt.return
  }
}
