// rule: amdg.async_tdm_copy_global_to_local: an axis of 65535 at most
#v1 = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx1250", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%d: !tt.tensordesc<65536xf16>) {
    %m = ttg.local_alloc : () -> !ttg.memdesc<65536xf16, #v1, #smem, mutable>
    %0 = amdg.async_tdm_copy_global_to_local %d into %m : !tt.tensordesc<65536xf16> -> !ttg.memdesc<65536xf16, #v1, #smem, mutable>
    tt.return
  }
}
