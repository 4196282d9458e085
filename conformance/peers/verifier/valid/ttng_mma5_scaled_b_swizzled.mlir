// shows: ttng.tc_gen5_mma_scaled: operand B with the layout swizzled_shared
#nv8 = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 8}>
#sw = #ttg.swizzled_shared<{vec = 16, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#smem = #ttg.shared_memory
#tm = #ttng.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>
#tms = #ttng.tensor_memory_scales_encoding<>
#tmem = #ttng.tensor_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%t: i1) {
    %a = ttg.local_alloc : () -> !ttg.memdesc<128x128xf8E4M3FN, #nv8, #smem, mutable>
    %b = ttg.local_alloc : () -> !ttg.memdesc<128x128xf8E4M3FN, #sw, #smem, mutable>
    %d = ttng.tmem_alloc : () -> !ttg.memdesc<128x128xf32, #tm, #tmem, mutable>
    %s = ttng.tmem_alloc : () -> !ttg.memdesc<128x4xi8, #tms, #tmem, mutable>
    %u = ttng.tmem_alloc : () -> !ttg.memdesc<128x4xi8, #tms, #tmem, mutable>
    ttng.tc_gen5_mma_scaled %a, %b, %d, %s, %u, %t, %t lhs = e4m3 rhs = e4m3 : !ttg.memdesc<128x128xf8E4M3FN, #nv8, #smem, mutable>, !ttg.memdesc<128x128xf8E4M3FN, #sw, #smem, mutable>, !ttg.memdesc<128x128xf32, #tm, #tmem, mutable>, !ttg.memdesc<128x4xi8, #tms, #tmem, mutable>, !ttg.memdesc<128x4xi8, #tms, #tmem, mutable>
    tt.return
  }
}
