// rule: tt.expand_dims: the result's layout is the slice's parent
#b2 = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#b2t = #ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [4, 8], warpsPerCTA = [1, 4], order = [0, 1]}>
#s0 = #ttg.slice<{dim = 0, parent = #b2}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%a: tensor<64xf32, #s0>) {
    %0 = tt.expand_dims %a {axis = 0 : i32} : tensor<64xf32, #s0> -> tensor<1x64xf32, #b2t>
    tt.return
  }
}
