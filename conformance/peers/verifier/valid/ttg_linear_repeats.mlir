// shows: #ttg.linear: registers, lanes and warps that repeat
#x = #ttg.linear<{register = [[0]], lane = [[1], [2], [4], [8], [0]], warp = [[0], [0]], block = []}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%a: tensor<16xf32, #x>) {
    %0 = tt.precise_sqrt %a : tensor<16xf32, #x>
    tt.return
  }
}
