// rule: ttng.async_tma_gather: a thread has four adjacent rows' numbers
#v1 = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#nv = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
#xb = #ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [32, 1], warpsPerCTA = [1, 4], order = [1, 0]}>
#xs = #ttg.slice<{dim = 0, parent = #xb}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%d: !tt.tensordesc<1x64xf16, #nv>, %x: tensor<32xi32, #xs>, %y: i32, %p: i1) {
    %b = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #v1, #smem, mutable>
    %m = ttg.local_alloc : () -> !ttg.memdesc<32x64xf16, #nv, #smem, mutable>
    ttng.async_tma_gather %d[%x, %y] %m, %b, %p : !tt.tensordesc<1x64xf16, #nv>, tensor<32xi32, #xs>, i32, !ttg.memdesc<1xi64, #v1, #smem, mutable>, !ttg.memdesc<32x64xf16, #nv, #smem, mutable>, i1
    tt.return
  }
}
