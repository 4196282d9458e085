// shows: #ttg.nvmma_shared: each swizzle, transposed, three axes
#nv4 = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 8, fp4Padded = true}>
#smem = #ttg.shared_memory
#x = #ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = false, elementBitWidth = 16}>
#y = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = true, elementBitWidth = 8}>
#z = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16, rank = 3}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k() {
    %0 = ttg.local_alloc : () -> !ttg.memdesc<64x16xf16, #x, #smem, mutable>
    %1 = ttg.local_alloc : () -> !ttg.memdesc<64x16xi8, #y, #smem, mutable>
    %2 = ttg.local_alloc : () -> !ttg.memdesc<2x8x64xf16, #z, #smem, mutable>
    %3 = ttg.local_alloc : () -> !ttg.memdesc<64x64xi8, #nv4, #smem, mutable>
    tt.return
  }
}
