// shows: ttg.memdesc_subslice: columns of a swizzle, rows of whole swizzles
#w2 = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k() {
    %m = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #w2, #smem, mutable>
    %0 = ttg.memdesc_subslice %m[32, 0] : !ttg.memdesc<64x64xf16, #w2, #smem, mutable> -> !ttg.memdesc<32x64xf16, #w2, #smem, mutable, 64x64>
    tt.return
  }
}
