// shows: tt.descriptor_load: a descriptor with a layout of memory, a result with one of registers
#b2 = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#nv = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%d: !tt.tensordesc<64x64xf16, #nv>, %i: i32) {
    %0 = tt.descriptor_load %d[%i, %i] : !tt.tensordesc<64x64xf16, #nv> -> tensor<64x64xf16, #b2>
    tt.return
  }
}
