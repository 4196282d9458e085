// rule: amdg.async_tdm_copy_global_to_local: the warps differ in as few bits as can be
#v2 = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx1250", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%d: !tt.tensordesc<64x64xf16>) {
    %m = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #v2, #smem, mutable>
    %0 = amdg.async_tdm_copy_global_to_local %d into %m {warp_used_hint = 6 : i32} : !tt.tensordesc<64x64xf16> -> !ttg.memdesc<64x64xf16, #v2, #smem, mutable>
    tt.return
  }
}
