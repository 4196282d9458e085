// rule: !ttg.memdesc: a layout of tensor memory lies in tensor memory
#smem = #ttg.shared_memory
#tm = #ttng.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k() {
    %0 = ttng.tmem_alloc : () -> !ttg.memdesc<128x128xf32, #tm, #smem, mutable>
    tt.return
  }
}
