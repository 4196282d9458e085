// rule: ttng.tmem_subslice: the axis is one of the tensor
#t = #ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>
#h = #ttng.tensor_memory_encoding<blockM = 64, blockN = 64, colStride = 1>
#sc = #ttng.tensor_memory_scales_encoding<>
#tm = #ttng.tensor_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%m: !ttg.memdesc<128x128xf32, #t, #tm, mutable>) {
    %0 = ttng.tmem_subslice %m {offset = 0 : i32, dim = -1 : i32} : !ttg.memdesc<128x128xf32, #t, #tm, mutable> -> !ttg.memdesc<128x128xf32, #t, #tm, mutable>
    tt.return
  }
}
