// rule: tt.expand_dims: the slice's axis is the new one
#b2 = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#s1 = #ttg.slice<{dim = 1, parent = #b2}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%a: tensor<64xf32, #s1>) {
    %0 = tt.expand_dims %a {axis = 0 : i32} : tensor<64xf32, #s1> -> tensor<1x64xf32, #b2>
    tt.return
  }
}
