// shows: #ttng.tensor_memory_encoding: its parameters in another order
#tmem = #ttng.tensor_memory
#x = #ttng.tensor_memory_encoding<colStride = 1, blockN = 128, blockM = 128>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k() {
    %0 = ttng.tmem_alloc : () -> !ttg.memdesc<128x128xf32, #x, #tmem, mutable>
    tt.return
  }
}
