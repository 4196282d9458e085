// rule: ttg.memdesc_index: the layout stays
#v2 = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#v2t = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0, 1]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%i: i32) {
    %m = ttg.local_alloc : () -> !ttg.memdesc<2x64x64xf16, #v2, #smem, mutable>
    %0 = ttg.memdesc_index %m[%i] : !ttg.memdesc<2x64x64xf16, #v2, #smem, mutable> -> !ttg.memdesc<64x64xf16, #v2t, #smem, mutable>
    tt.return
  }
}
