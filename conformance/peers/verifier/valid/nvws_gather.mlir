// shows: nvws.descriptor_gather: into memory, with its bytes
#nv = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%d: !tt.tensordesc<1x64xf16, #nv>, %x: tensor<32xi32>, %i: i32) {
    %m = ttg.local_alloc : () -> !ttg.memdesc<32x64xf16, #nv, #smem, mutable>
    nvws.descriptor_gather %d[%x, %i] 4096 %m : !tt.tensordesc<1x64xf16, #nv>, tensor<32xi32>, i32, !ttg.memdesc<32x64xf16, #nv, #smem, mutable>
    tt.return
  }
}
