// shows: amdg.async_tdm_gather and amdg.async_tdm_scatter of rows
#v1 = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#v2 = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
#r = #ttg.blocked<{sizePerThread = [16, 1], threadsPerWarp = [1, 32], warpsPerCTA = [1, 4], order = [0, 1]}>
#s = #ttg.slice<{dim = 1, parent = #r}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx1250", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%d: !tt.tensordesc<16x64xf16>, %x: tensor<16xi16, #s>) {
    %m = ttg.local_alloc : () -> !ttg.memdesc<16x64xf16, #v2, #smem, mutable>
    %b = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #v1, #smem, mutable>
    %0 = amdg.async_tdm_gather %d[%x] to %m : tensor<16xi16, #s>, !ttg.memdesc<16x64xf16, #v2, #smem, mutable> -> !tt.tensordesc<16x64xf16>
    %1 = amdg.async_tdm_scatter %d[%x] from %m, barrier = %b : tensor<16xi16, #s>, !ttg.memdesc<16x64xf16, #v2, #smem, mutable>, !ttg.memdesc<1xi64, #v1, #smem, mutable> -> !tt.tensordesc<16x64xf16>
    tt.return
  }
}
