// rule: ttng.async_tma_copy_global_to_local: the layout has the axes of memory
#b = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
#n = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%d: !tt.tensordesc<2x64x64xf16, #n>, %m: !ttg.memdesc<2x64x64xf16, #n, #smem, mutable>, %b: !ttg.memdesc<1xi64, #b, #smem, mutable>, %x: i32, %p: i1) {
    ttng.async_tma_copy_global_to_local %d[%x, %x, %x] %m, %b, %p : !tt.tensordesc<2x64x64xf16, #n>, !ttg.memdesc<1xi64, #b, #smem, mutable> -> !ttg.memdesc<2x64x64xf16, #n, #smem, mutable>
    tt.return
  }
}
