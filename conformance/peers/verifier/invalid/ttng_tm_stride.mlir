// rule: #ttng.tensor_memory_encoding: colStride is 1, 2 or 4
#tmem = #ttng.tensor_memory
#x = #ttng.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 3>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k() {
    %m = ttng.tmem_alloc : () -> !ttg.memdesc<128x128xi8, #x, #tmem, mutable>
    tt.return
  }
}
