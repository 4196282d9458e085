// rule: amdg.async_tdm_gather: two axes
#v1 = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx1250", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%d: !tt.tensordesc<64xf16>, %x: tensor<16xi16>) {
    %m = ttg.local_alloc : () -> !ttg.memdesc<64xf16, #v1, #smem, mutable>
    %0 = amdg.async_tdm_gather %d[%x] to %m : tensor<16xi16>, !ttg.memdesc<64xf16, #v1, #smem, mutable> -> !tt.tensordesc<64xf16>
    tt.return
  }
}
