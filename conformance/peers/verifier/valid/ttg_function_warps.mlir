// shows: a function says its own warps
#b1n1 = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [1], order = [0]}>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func private @k(%a: tensor<64xf32, #b1n1>) attributes {"ttg.num-warps" = 1 : i32} {
    %0 = tt.precise_sqrt %a : tensor<64xf32, #b1n1>
    tt.return
  }
}
