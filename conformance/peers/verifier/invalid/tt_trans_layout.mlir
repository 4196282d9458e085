// rule: tt.trans: the result's layout is the permuted one
#b2 = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%a: tensor<32x64xf32, #b2>) {
    %0 = tt.trans %a {order = array<i32: 1, 0>} : tensor<32x64xf32, #b2> -> tensor<64x32xf32, #b2>
    tt.return
  }
}
