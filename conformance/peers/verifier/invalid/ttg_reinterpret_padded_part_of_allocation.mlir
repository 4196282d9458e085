// rule: ttg.memdesc_reinterpret: the operand is all of its padded allocation
#p = #ttg.padded_shared<[32:+4] {order = [1, 0], shape = [16, 32]}>
#smem = #ttg.shared_memory
#q = #ttg.padded_shared<[32:+4] {order = [1, 0], shape = [8, 32]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%m: !ttg.memdesc<8x32xf16, #p, #smem, 16x32>) {
    %0 = ttg.memdesc_reinterpret %m : !ttg.memdesc<8x32xf16, #p, #smem, 16x32> -> !ttg.memdesc<8x32xbf16, #q, #smem>
    tt.return
  }
}
