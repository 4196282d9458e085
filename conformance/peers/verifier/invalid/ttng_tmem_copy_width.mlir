// rule: ttng.tmem_copy: a matrix of 32 bits an element
#nv = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
#tm = #ttng.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>
#tmem = #ttng.tensor_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k() {
    %s = ttg.local_alloc : () -> !ttg.memdesc<128x128xf16, #nv, #smem, mutable>
    %m = ttng.tmem_alloc : () -> !ttg.memdesc<128x128xf16, #tm, #tmem, mutable>
    ttng.tmem_copy %s, %m : !ttg.memdesc<128x128xf16, #nv, #smem, mutable>, !ttg.memdesc<128x128xf16, #tm, #tmem, mutable>
    tt.return
  }
}
