// rule: ttg.memdesc_trans: nvmma_shared becomes transposed
#nv = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k() {
    %m = ttg.local_alloc : () -> !ttg.memdesc<64x128xf16, #nv, #smem, mutable>
    %0 = ttg.memdesc_trans %m {order = array<i32: 1, 0>} : !ttg.memdesc<64x128xf16, #nv, #smem, mutable> -> !ttg.memdesc<128x64xf16, #nv, #smem, mutable>
    tt.return
  }
}
