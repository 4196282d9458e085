// shows: #ttg.slice: a slice of a slice, and of an operand's layout
#b3 = #ttg.blocked<{sizePerThread = [1, 1, 2], threadsPerWarp = [4, 8, 1], warpsPerCTA = [4, 1, 1], order = [2, 1, 0]}>
#t = #ttg.slice<{dim = 2, parent = #b3}>
#u = #ttg.slice<{dim = 0, parent = #t}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%a: tensor<16xf32, #u>) {
    %0 = tt.precise_sqrt %a : tensor<16xf32, #u>
    tt.return
  }
}
