// rule: ttng.async_tma_copy_global_to_local: each block has an mbarrier
#b = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0], CGALayout = [[0]]}>
#smem = #ttg.shared_memory
#n = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16, CGALayout = [[1, 0]]}>
module attributes {"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32, "ttng.two-ctas" = false} {
  tt.func public @k(%d: !tt.tensordesc<64x64xf16, #n>, %m: !ttg.memdesc<64x64xf16, #n, #smem, mutable>, %b: !ttg.memdesc<1xi64, #b, #smem, mutable>, %x: i32, %p: i1) {
    ttng.async_tma_copy_global_to_local %d[%x, %x] %m, %b, %p : !tt.tensordesc<64x64xf16, #n>, !ttg.memdesc<1xi64, #b, #smem, mutable> -> !ttg.memdesc<64x64xf16, #n, #smem, mutable>
    tt.return
  }
}
