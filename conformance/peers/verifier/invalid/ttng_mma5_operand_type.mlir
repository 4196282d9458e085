// rule: ttng.tc_gen5_mma: no f64
#smem = #ttg.shared_memory
#tm = #ttng.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>
#tmem = #ttng.tensor_memory
#x = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 64}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%t: i1) {
    %a = ttg.local_alloc : () -> !ttg.memdesc<128x16xf64, #x, #smem, mutable>
    %b = ttg.local_alloc : () -> !ttg.memdesc<16x128xf64, #x, #smem, mutable>
    %d = ttng.tmem_alloc : () -> !ttg.memdesc<128x128xf32, #tm, #tmem, mutable>
    ttng.tc_gen5_mma %a, %b, %d, %t, %t : !ttg.memdesc<128x16xf64, #x, #smem, mutable>, !ttg.memdesc<16x128xf64, #x, #smem, mutable>, !ttg.memdesc<128x128xf32, #tm, #tmem, mutable>
    tt.return
  }
}
