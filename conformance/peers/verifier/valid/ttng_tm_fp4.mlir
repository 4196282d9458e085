// shows: #ttng.tensor_memory_encoding: padded e2m1
#tmem = #ttng.tensor_memory
#x = #ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1, fp4Padded = true>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k() {
    %0 = ttng.tmem_alloc : () -> !ttg.memdesc<128x64xi8, #x, #tmem, mutable>
    tt.return
  }
}
