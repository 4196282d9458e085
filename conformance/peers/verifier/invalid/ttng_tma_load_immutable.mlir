// rule: ttng.async_tma_copy_global_to_local: the memory is mutable
#b2 = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#v1 = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#nv = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%d: !tt.tensordesc<64x64xf16, #nv>, %i: i32, %p: i1) {
    %b = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #v1, #smem, mutable>
    %m_value = arith.constant dense<0.000000e+00> : tensor<64x64xf16, #b2>
    %m = ttg.local_alloc %m_value : (tensor<64x64xf16, #b2>) -> !ttg.memdesc<64x64xf16, #nv, #smem>
    ttng.async_tma_copy_global_to_local %d[%i, %i] %m, %b, %p : !tt.tensordesc<64x64xf16, #nv>, !ttg.memdesc<1xi64, #v1, #smem, mutable> -> !ttg.memdesc<64x64xf16, #nv, #smem>
    tt.return
  }
}
