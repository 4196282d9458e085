// shows: ttng.async_tma_copy_local_to_global, and waiting until it is read
#nv = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%d: !tt.tensordesc<64x64xf16, #nv>, %i: i32) {
    %m = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #nv, #smem, mutable>
    ttng.async_tma_copy_local_to_global %d[%i, %i] %m : !tt.tensordesc<64x64xf16, #nv>, !ttg.memdesc<64x64xf16, #nv, #smem, mutable>
    ttng.async_tma_store_wait {pendings = 0 : i32}
    ttng.async_tma_store_wait {pendings = 1 : i32, read_only}
    tt.return
  }
}
