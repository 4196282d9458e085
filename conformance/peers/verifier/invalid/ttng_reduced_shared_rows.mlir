// rule: ttng.tmem_load: a lane has whole rows
#t = #ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>
#h = #ttng.tensor_memory_encoding<blockM = 64, blockN = 64, colStride = 1>
#sc = #ttng.tensor_memory_scales_encoding<>
#tm = #ttng.tensor_memory
#r = #ttg.blocked<{sizePerThread = [1, 64], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1], order = [0, 1]}>
#r1 = #ttg.slice<{dim = 1, parent = #r}>
#w = #ttg.blocked<{sizePerThread = [1, 32], threadsPerWarp = [32, 1], warpsPerCTA = [4, 2], order = [0, 1]}>
#w1 = #ttg.slice<{dim = 1, parent = #w}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 8 : i32, ttg.target = "cuda:103", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%m: !ttg.memdesc<128x64xf32, #t, #tm>) {
    %0, %1 = ttng.tmem_load %m {redOp = #ttng.redOp<max>} : !ttg.memdesc<128x64xf32, #t, #tm> -> tensor<128x64xf32, #w>, tensor<128xf32, #w1>
    tt.return
  }
}
