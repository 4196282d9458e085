// rule: tt.split: the results' layout is the operand's without the last axis
#b1v = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#j = #ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%a: tensor<128x2xf32, #j>) {
    %0, %1 = tt.split %a : tensor<128x2xf32, #j> -> tensor<128xf32, #b1v>
    tt.return
  }
}
