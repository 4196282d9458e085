// rule: ttng.async_tma_copy_global_to_local: a coordinate for each axis
#v1 = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#nv = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%d: !tt.tensordesc<64x64xf16, #nv>, %i: i32, %p: i1) {
    %b = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #v1, #smem, mutable>
    %m = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #nv, #smem, mutable>
    ttng.async_tma_copy_global_to_local %d[%i] %m, %b, %p : !tt.tensordesc<64x64xf16, #nv>, !ttg.memdesc<1xi64, #v1, #smem, mutable> -> !ttg.memdesc<64x64xf16, #nv, #smem, mutable>
    tt.return
  }
}
