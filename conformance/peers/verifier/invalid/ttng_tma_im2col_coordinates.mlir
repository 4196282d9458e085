// rule: ttng.async_tma_copy_global_to_local: im2col has three coordinates or more
#v1 = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#nv = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%d: !ttng.tensordesc_im2col<64x64xf16, #nv>, %i: i32, %o: i16, %p: i1) {
    %b = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #v1, #smem, mutable>
    %m = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #nv, #smem, mutable>
    ttng.async_tma_copy_global_to_local %d[%i, %i] offsets = [%o] %m, %b, %p : !ttng.tensordesc_im2col<64x64xf16, #nv>, !ttg.memdesc<1xi64, #v1, #smem, mutable> -> !ttg.memdesc<64x64xf16, #nv, #smem, mutable>
    tt.return
  }
}
