// shows: ttng.tc_gen5_mma_scaled: e2m1 by e2m1, two in a byte
#nv8 = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 8}>
#smem = #ttg.shared_memory
#tm = #ttng.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>
#tms = #ttng.tensor_memory_scales_encoding<>
#tmem = #ttng.tensor_memory
#x = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = true, elementBitWidth = 8}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%t: i1) {
    %a = ttg.local_alloc : () -> !ttg.memdesc<128x128xi8, #nv8, #smem, mutable>
    %b = ttg.local_alloc : () -> !ttg.memdesc<128x128xi8, #x, #smem, mutable>
    %d = ttng.tmem_alloc : () -> !ttg.memdesc<128x128xf32, #tm, #tmem, mutable>
    %s = ttng.tmem_alloc : () -> !ttg.memdesc<128x8xi8, #tms, #tmem, mutable>
    ttng.tc_gen5_mma_scaled %a, %b, %d, %s, %s, %t, %t lhs = e2m1 rhs = e2m1 : !ttg.memdesc<128x128xi8, #nv8, #smem, mutable>, !ttg.memdesc<128x128xi8, #x, #smem, mutable>, !ttg.memdesc<128x128xf32, #tm, #tmem, mutable>, !ttg.memdesc<128x8xi8, #tms, #tmem, mutable>, !ttg.memdesc<128x8xi8, #tms, #tmem, mutable>
    tt.return
  }
}
