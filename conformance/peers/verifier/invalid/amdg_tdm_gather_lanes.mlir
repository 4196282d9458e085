// rule: amdg.async_tdm_gather: the lanes of a warp have the same rows' numbers
#b1 = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#v2 = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx1250", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%d: !tt.tensordesc<128x64xf16>, %x: tensor<128xi16, #b1>) {
    %m = ttg.local_alloc : () -> !ttg.memdesc<128x64xf16, #v2, #smem, mutable>
    %0 = amdg.async_tdm_gather %d[%x] to %m : tensor<128xi16, #b1>, !ttg.memdesc<128x64xf16, #v2, #smem, mutable> -> !tt.tensordesc<128x64xf16>
    tt.return
  }
}
