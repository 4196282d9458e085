// rule: ttng.async_tma_scatter: the block's element type
#nv = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%d: !tt.tensordesc<1x64xbf16, #nv>, %x: tensor<32xi32>, %y: i32) {
    %m = ttg.local_alloc : () -> !ttg.memdesc<32x64xf16, #nv, #smem, mutable>
    ttng.async_tma_scatter %d[%x, %y] %m : !tt.tensordesc<1x64xbf16, #nv>, tensor<32xi32>, i32, !ttg.memdesc<32x64xf16, #nv, #smem, mutable>
    tt.return
  }
}
