// rule: ttg.memdesc_reinterpret: the operand is not cut across blocks
#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0], CGALayout = [[1, 0]]}>
#t = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0], CGALayout = [[0, 0]]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 2 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%m: !ttg.memdesc<16x32xf16, #s, #smem, 32x32>) {
    %0 = ttg.memdesc_reinterpret %m : !ttg.memdesc<16x32xf16, #s, #smem, 32x32> -> !ttg.memdesc<16x32xf16, #t, #smem>
    tt.return
  }
}
