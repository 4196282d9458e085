// shows: tt.trans: the transposed layout said as bases
#x = #ttg.linear<{register = [[0, 1]], lane = [[0, 2], [0, 4], [0, 8], [1, 0], [2, 0]], warp = [[4, 0], [8, 0]], block = []}>
#y = #ttg.linear<{register = [[1, 0]], lane = [[2, 0], [4, 0], [8, 0], [0, 1], [0, 2]], warp = [[0, 4], [0, 8]], block = []}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%a: tensor<16x16xf32, #x>) {
    %0 = tt.trans %a {order = array<i32: 1, 0>} : tensor<16x16xf32, #x> -> tensor<16x16xf32, #y>
    tt.return
  }
}
