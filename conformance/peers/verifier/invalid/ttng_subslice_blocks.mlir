// rule: ttng.tmem_subslice: a slice is not cut across blocks
#c = #ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1, CGALayout = [[1, 0]]>
#tm = #ttng.tensor_memory
module attributes {"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%m: !ttg.memdesc<512x64xf32, #c, #tm, mutable>) {
    %0 = ttng.tmem_subslice %m {offset = 0 : i32, dim = 0 : i32} : !ttg.memdesc<512x64xf32, #c, #tm, mutable> -> !ttg.memdesc<256x64xf32, #c, #tm, mutable, 512x64>
    tt.return
  }
}
