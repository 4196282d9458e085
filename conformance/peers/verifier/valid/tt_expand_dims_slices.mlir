// shows: tt.expand_dims: slices of one parent meet
#b2 = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#s0 = #ttg.slice<{dim = 0, parent = #b2}>
#s1 = #ttg.slice<{dim = 1, parent = #b2}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%a: tensor<64xi32, #s0>, %b: tensor<64xi32, #s1>) {
    %0 = tt.expand_dims %a {axis = 0 : i32} : tensor<64xi32, #s0> -> tensor<1x64xi32, #b2>
    %1 = tt.expand_dims %b {axis = 1 : i32} : tensor<64xi32, #s1> -> tensor<64x1xi32, #b2>
    %2 = tt.broadcast %0 : tensor<1x64xi32, #b2> -> tensor<64x64xi32, #b2>
    %3 = tt.broadcast %1 : tensor<64x1xi32, #b2> -> tensor<64x64xi32, #b2>
    %4 = arith.addi %2, %3 : tensor<64x64xi32, #b2>
    tt.return
  }
}
