// shows: ttng.tc_gen5_mma_scaled: operands of bf16
#fl = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
#tm = #ttng.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>
#tms = #ttng.tensor_memory_scales_encoding<>
#tmem = #ttng.tensor_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%t: i1) {
    %a = ttg.local_alloc : () -> !ttg.memdesc<128x128xbf16, #fl, #smem, mutable>
    %b = ttg.local_alloc : () -> !ttg.memdesc<128x128xbf16, #fl, #smem, mutable>
    %d = ttng.tmem_alloc : () -> !ttg.memdesc<128x128xf32, #tm, #tmem, mutable>
    %s = ttng.tmem_alloc : () -> !ttg.memdesc<128x4xi8, #tms, #tmem, mutable>
    %u = ttng.tmem_alloc : () -> !ttg.memdesc<128x4xi8, #tms, #tmem, mutable>
    ttng.tc_gen5_mma_scaled %a, %b, %d, %s, %u, %t, %t lhs = bf16 rhs = bf16 : !ttg.memdesc<128x128xbf16, #fl, #smem, mutable>, !ttg.memdesc<128x128xbf16, #fl, #smem, mutable>, !ttg.memdesc<128x128xf32, #tm, #tmem, mutable>, !ttg.memdesc<128x4xi8, #tms, #tmem, mutable>, !ttg.memdesc<128x4xi8, #tms, #tmem, mutable>
    tt.return
  }
}
