// rule: ttng.async_tma_copy_local_to_global: memory is not cut across blocks
#n = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16, CGALayout = [[1, 0]]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%d: !tt.tensordesc<64x64xf16, #n>, %m: !ttg.memdesc<64x64xf16, #n, #smem, mutable, 128x64>, %x: i32) {
    ttng.async_tma_copy_local_to_global %d[%x, %x] %m : !tt.tensordesc<64x64xf16, #n>, !ttg.memdesc<64x64xf16, #n, #smem, mutable, 128x64>
    tt.return
  }
}
