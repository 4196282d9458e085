// rule: ttg.memdesc_subslice: a part of several padded buffers
#p = #ttg.padded_shared<[32:+4] {order = [1, 0], shape = [16, 32]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%m: !ttg.memdesc<4x16x32xf16, #p, #smem>) {
    %0 = ttg.memdesc_subslice %m [0, 8, 0] : !ttg.memdesc<4x16x32xf16, #p, #smem> -> !ttg.memdesc<4x8x32xf16, #p, #smem, 4x16x32>
    tt.return
  }
}
