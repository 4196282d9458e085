// rule: ttg.memdesc_reinterpret: all buffers of the result lie within the source
#v1 = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k() {
    %m = ttg.local_alloc : () -> !ttg.memdesc<2x1024xi8, #v1, #smem, mutable>
    %0 = ttg.memdesc_reinterpret %m : !ttg.memdesc<2x1024xi8, #v1, #smem, mutable> -> !ttg.memdesc<4x512xf16, #v1, #smem, mutable>
    tt.return
  }
}
