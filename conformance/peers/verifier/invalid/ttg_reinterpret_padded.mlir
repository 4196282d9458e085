// rule: ttg.memdesc_reinterpret: padded memory stays padded
#v1 = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
#pad = #ttg.padded_shared<[32:+4] {order = [1, 0], shape = [64, 32]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k() {
    %m = ttg.local_alloc : () -> !ttg.memdesc<64x32xf16, #pad, #smem, mutable>
    %0 = ttg.memdesc_reinterpret %m : !ttg.memdesc<64x32xf16, #pad, #smem, mutable> -> !ttg.memdesc<2048xf16, #v1, #smem, mutable>
    tt.return
  }
}
