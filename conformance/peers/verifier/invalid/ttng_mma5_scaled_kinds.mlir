// rule: ttng.tc_gen5_mma_scaled: operands of e2m1 and bf16
#nv8 = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 8}>
#smem = #ttg.shared_memory
#tm = #ttng.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>
#tms = #ttng.tensor_memory_scales_encoding<>
#tmem = #ttng.tensor_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%t: i1) {
    %a = ttng.tmem_alloc : () -> !ttg.memdesc<128x64xi8, #tm, #tmem, mutable>
    %b = ttg.local_alloc : () -> !ttg.memdesc<128x128xbf16, #nv8, #smem, mutable>
    %d = ttng.tmem_alloc : () -> !ttg.memdesc<128x128xf32, #tm, #tmem, mutable>
    %s = ttng.tmem_alloc : () -> !ttg.memdesc<128x4xi8, #tms, #tmem, mutable>
    %u = ttng.tmem_alloc : () -> !ttg.memdesc<128x4xi8, #tms, #tmem, mutable>
    ttng.tc_gen5_mma_scaled %a, %b, %d, %s, %u, %t, %t lhs = e2m1 rhs = bf16 : !ttg.memdesc<128x64xi8, #tm, #tmem, mutable>, !ttg.memdesc<128x128xbf16, #nv8, #smem, mutable>, !ttg.memdesc<128x128xf32, #tm, #tmem, mutable>, !ttg.memdesc<128x4xi8, #tms, #tmem, mutable>, !ttg.memdesc<128x4xi8, #tms, #tmem, mutable>
    tt.return
  }
}
