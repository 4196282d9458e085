// shows: ttg.convert_layout: to and from slices
#b1 = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#b2 = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#s0 = #ttg.slice<{dim = 0, parent = #b2}>
#s1 = #ttg.slice<{dim = 1, parent = #b2}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%a: tensor<64xf32, #b1>) {
    %0 = ttg.convert_layout %a : tensor<64xf32, #b1> -> tensor<64xf32, #s0>
    %1 = ttg.convert_layout %0 : tensor<64xf32, #s0> -> tensor<64xf32, #s1>
    tt.return
  }
}
