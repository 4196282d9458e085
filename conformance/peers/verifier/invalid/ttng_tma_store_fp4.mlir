// rule: ttng.async_tma_copy_local_to_global: no padded e2m1
#nv4 = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 8, fp4Padded = true}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%d: !tt.tensordesc<64x64xi8, #nv4>, %i: i32) {
    %m = ttg.local_alloc : () -> !ttg.memdesc<64x64xi8, #nv4, #smem, mutable>
    ttng.async_tma_copy_local_to_global %d[%i, %i] %m : !tt.tensordesc<64x64xi8, #nv4>, !ttg.memdesc<64x64xi8, #nv4, #smem, mutable>
    tt.return
  }
}
