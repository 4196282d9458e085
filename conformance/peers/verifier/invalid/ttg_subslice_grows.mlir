// rule: ttg.memdesc_subslice: a part is no larger than the source
#v2 = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k() {
    %m_whole = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #v2, #smem, mutable>
    %m = ttg.memdesc_subslice %m_whole[0, 0] : !ttg.memdesc<64x64xf16, #v2, #smem, mutable> -> !ttg.memdesc<32x64xf16, #v2, #smem, mutable, 64x64>
    %0 = ttg.memdesc_subslice %m[0, 0] : !ttg.memdesc<32x64xf16, #v2, #smem, mutable, 64x64> -> !ttg.memdesc<64x64xf16, #v2, #smem, mutable, 64x64>
    tt.return
  }
}
