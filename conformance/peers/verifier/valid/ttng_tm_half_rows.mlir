// shows: #ttng.tensor_memory_encoding: 64 rows
#tmem = #ttng.tensor_memory
#x = #ttng.tensor_memory_encoding<blockM = 64, blockN = 32, colStride = 1>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k() {
    %0 = ttng.tmem_alloc : () -> !ttg.memdesc<64x32xf32, #x, #tmem, mutable>
    %1 = ttng.tmem_alloc : () -> !ttg.memdesc<128x64xf32, #x, #tmem, mutable>
    tt.return
  }
}
