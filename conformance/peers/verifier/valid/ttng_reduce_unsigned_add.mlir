// shows: ttng.async_tma_reduce: sums of 64 bits
#n = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 64}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%d: !tt.tensordesc<32x32xui64, #n>, %m: !ttg.memdesc<32x32xi64, #n, #smem>, %x: i32) {
    ttng.async_tma_reduce add, %d[%x, %x] %m : !tt.tensordesc<32x32xui64, #n>, !ttg.memdesc<32x32xi64, #n, #smem>
    tt.return
  }
}
