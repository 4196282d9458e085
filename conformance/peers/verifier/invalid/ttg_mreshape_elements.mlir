// rule: ttg.memdesc_reshape: as many elements as before
#v1 = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#v2 = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k() {
    %m = ttg.local_alloc : () -> !ttg.memdesc<64x32xf16, #v2, #smem, mutable>
    %0 = ttg.memdesc_reshape %m : !ttg.memdesc<64x32xf16, #v2, #smem, mutable> -> !ttg.memdesc<1024xf16, #v1, #smem, mutable>
    tt.return
  }
}
