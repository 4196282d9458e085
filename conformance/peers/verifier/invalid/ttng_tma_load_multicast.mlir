// rule: ttng.async_tma_copy_global_to_local: multicast takes memory that repeats over blocks
#smem = #ttg.shared_memory
#bb = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0], CGALayout = [[1]]}>
#x = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16, CGALayout = [[1, 0]]}>
module attributes {"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%d: !tt.tensordesc<64x64xf16, #x>, %i: i32, %p: i1) {
    %b = ttg.local_alloc : () -> !ttg.memdesc<2xi64, #bb, #smem, mutable>
    %m = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #x, #smem, mutable>
    ttng.async_tma_copy_global_to_local %d[%i, %i] %m, %b, %p {multicast} : !tt.tensordesc<64x64xf16, #x>, !ttg.memdesc<2xi64, #bb, #smem, mutable> -> !ttg.memdesc<64x64xf16, #x, #smem, mutable>
    tt.return
  }
}
