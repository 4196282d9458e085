// rule: #ttg.linear: all four inputs are said
#x = #ttg.linear<{register = [[0, 1]], warp = [[4, 0], [8, 0]], block = []}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%a: tensor<16x16xf32, #x>) {
    tt.return
  }
}
