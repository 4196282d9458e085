// rule: ttng.tmem_alloc: the target has tensor memory
#t = #ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>
#h = #ttng.tensor_memory_encoding<blockM = 64, blockN = 64, colStride = 1>
#sc = #ttng.tensor_memory_scales_encoding<>
#tm = #ttng.tensor_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @k() {
    %0 = ttng.tmem_alloc : () -> !ttg.memdesc<128x64xf32, #t, #tm, mutable>
    tt.return
  }
}
