// rule: ttng.async_tma_reduce: inc is of 32 bits
#smem = #ttg.shared_memory
#x = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 64}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%d: !tt.tensordesc<64x16xi64, #x>, %i: i32) {
    %m = ttg.local_alloc : () -> !ttg.memdesc<64x16xi64, #x, #smem, mutable>
    ttng.async_tma_reduce inc, %d[%i, %i] %m : !tt.tensordesc<64x16xi64, #x>, !ttg.memdesc<64x16xi64, #x, #smem, mutable>
    tt.return
  }
}
