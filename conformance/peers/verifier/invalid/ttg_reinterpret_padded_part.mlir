// rule: ttg.memdesc_reinterpret: not of a part of padded memory
#smem = #ttg.shared_memory
#pad = #ttg.padded_shared<[32:+4] {order = [1, 0], shape = [64, 32]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k() {
    %m_whole = ttg.local_alloc : () -> !ttg.memdesc<64x32xf16, #pad, #smem, mutable>
    %m = ttg.memdesc_subslice %m_whole[0, 0] : !ttg.memdesc<64x32xf16, #pad, #smem, mutable> -> !ttg.memdesc<32x32xf16, #pad, #smem, mutable, 64x32>
    %0 = ttg.memdesc_reinterpret %m : !ttg.memdesc<32x32xf16, #pad, #smem, mutable, 64x32> -> !ttg.memdesc<64x32xf16, #pad, #smem, mutable>
    tt.return
  }
}
