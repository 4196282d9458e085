// rule: #ttng.tensor_memory_encoding: two blocks share the rows
#tmem = #ttng.tensor_memory
#x = #ttng.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1, CGALayout = [[0, 1]], twoCTAs = true>
module attributes {"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k() {
    %m = ttng.tmem_alloc : () -> !ttg.memdesc<128x256xf32, #x, #tmem, mutable>
    tt.return
  }
}
