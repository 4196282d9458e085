// rule: ttng.packed_arith: a thread has pairs
#b1 = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%a: tensor<128xf32, #b1>) {
    %0 = ttng.packed_arith add %a, %a : (tensor<128xf32, #b1>, tensor<128xf32, #b1>) -> tensor<128xf32, #b1>
    tt.return
  }
}
