// rule: tt.expand_dims: the operand's layout is a slice
#b1 = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#b2 = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%a: tensor<64xf32, #b1>) {
    %0 = tt.expand_dims %a {axis = 0 : i32} : tensor<64xf32, #b1> -> tensor<1x64xf32, #b2>
    tt.return
  }
}
