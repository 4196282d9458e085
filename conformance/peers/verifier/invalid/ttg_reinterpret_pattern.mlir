// rule: ttg.memdesc_reinterpret: the paddings' places stay
#smem = #ttg.shared_memory
#pad = #ttg.padded_shared<[32:+4] {order = [1, 0], shape = [64, 32]}>
#x = #ttg.padded_shared<[64:+4] {order = [1, 0], shape = [64, 32]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k() {
    %m = ttg.local_alloc : () -> !ttg.memdesc<64x32xf16, #pad, #smem, mutable>
    %0 = ttg.memdesc_reinterpret %m : !ttg.memdesc<64x32xf16, #pad, #smem, mutable> -> !ttg.memdesc<64x32xf16, #x, #smem, mutable>
    tt.return
  }
}
