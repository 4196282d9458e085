// shows: ttng.async_tma_reduce: a sum into global memory
#nv32 = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 32}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%d: !tt.tensordesc<64x32xf32, #nv32>, %i: i32) {
    %m = ttg.local_alloc : () -> !ttg.memdesc<64x32xf32, #nv32, #smem, mutable>
    ttng.async_tma_reduce add, %d[%i, %i] %m : !tt.tensordesc<64x32xf32, #nv32>, !ttg.memdesc<64x32xf32, #nv32, #smem, mutable>
    tt.return
  }
}
