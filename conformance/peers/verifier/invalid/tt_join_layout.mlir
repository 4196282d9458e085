// rule: tt.join: the result's layout without the last axis is the operands'
#b1v = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#j = #ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%a: tensor<128xf32, #b1v>, %b: tensor<128xf32, #b1v>) {
    %0 = tt.join %a, %b : tensor<128xf32, #b1v> -> tensor<128x2xf32, #j>
    tt.return
  }
}
