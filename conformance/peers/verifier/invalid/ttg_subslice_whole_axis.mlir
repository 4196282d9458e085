// rule: ttg.memdesc_subslice: no offset along an axis that stays whole
#v2 = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k() {
    %m = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #v2, #smem, mutable>
    %0 = ttg.memdesc_subslice %m[32, 32] : !ttg.memdesc<64x64xf16, #v2, #smem, mutable> -> !ttg.memdesc<64x32xf16, #v2, #smem, mutable, 64x64>
    tt.return
  }
}
