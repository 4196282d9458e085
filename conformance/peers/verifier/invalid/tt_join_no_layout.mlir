// rule: tt.join: operands with a layout give a result with one
#b1 = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%a: tensor<128xf32, #b1>, %b: tensor<128xf32, #b1>) {
    %0 = tt.join %a, %b : tensor<128xf32, #b1> -> tensor<128x2xf32>
    tt.return
  }
}
