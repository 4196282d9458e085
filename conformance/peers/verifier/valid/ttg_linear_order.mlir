// shows: a linear layout with an order, as older versions print it
#l = #ttg.linear<{register = [[0, 1], [0, 2]], lane = [[0, 4], [0, 8], [1, 0], [2, 0], [4, 0]], warp = [[8, 0], [16, 0]], block = [], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%x: tensor<32x16xf32, #l>) {
    %y = arith.addf %x, %x : tensor<32x16xf32, #l>
    tt.return
  }
}
