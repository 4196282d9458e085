// rule: ttng.tmem_copy: the target is mutable
#b2 = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#nv32 = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 32}>
#smem = #ttg.shared_memory
#tm = #ttng.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>
#tmem = #ttng.tensor_memory
#tl = #ttg.blocked<{sizePerThread = [1, 128], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1], order = [0, 1]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k() {
    %s_value = arith.constant dense<0.000000e+00> : tensor<128x128xf32, #b2>
    %s = ttg.local_alloc %s_value : (tensor<128x128xf32, #b2>) -> !ttg.memdesc<128x128xf32, #nv32, #smem>
    %m_value = arith.constant dense<0.000000e+00> : tensor<128x128xf32, #tl>
    %m = ttng.tmem_alloc %m_value : (tensor<128x128xf32, #tl>) -> !ttg.memdesc<128x128xf32, #tm, #tmem>
    ttng.tmem_copy %s, %m : !ttg.memdesc<128x128xf32, #nv32, #smem>, !ttg.memdesc<128x128xf32, #tm, #tmem>
    tt.return
  }
}
