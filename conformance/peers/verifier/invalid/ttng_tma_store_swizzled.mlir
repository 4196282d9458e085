// rule: ttng.async_tma_copy_local_to_global: the memory is nvmma_shared
#w2 = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#nv = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%d: !tt.tensordesc<64x64xf16, #nv>, %i: i32) {
    %m = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #w2, #smem, mutable>
    ttng.async_tma_copy_local_to_global %d[%i, %i] %m : !tt.tensordesc<64x64xf16, #nv>, !ttg.memdesc<64x64xf16, #w2, #smem, mutable>
    tt.return
  }
}
