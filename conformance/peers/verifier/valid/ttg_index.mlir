// shows: ttg.memdesc_index: of three buffers, of one
#v1 = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#w2 = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%i: i32) {
    %m = ttg.local_alloc : () -> !ttg.memdesc<3x64x64xf16, #w2, #smem, mutable>
    %n = ttg.local_alloc : () -> !ttg.memdesc<1x64xf32, #v1, #smem, mutable>
    %0 = ttg.memdesc_index %m[%i] : !ttg.memdesc<3x64x64xf16, #w2, #smem, mutable> -> !ttg.memdesc<64x64xf16, #w2, #smem, mutable>
    %1 = ttg.memdesc_index %n[%i] : !ttg.memdesc<1x64xf32, #v1, #smem, mutable> -> !ttg.memdesc<64xf32, #v1, #smem, mutable>
    tt.return
  }
}
