// rule: ttg.fp4_to_fp: the numbers of a byte are in adjacent registers
#s = #ttg.linear<{register = [[0, 1], [0, 2]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], warp = [[0, 4], [0, 8]], block = []}>
#d = #ttg.linear<{register = [[0, 2], [0, 1], [0, 4]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], warp = [[0, 8], [0, 16]], block = []}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%x: tensor<32x16xi8, #s>) {
    %0 = ttg.fp4_to_fp %x {axis = 1 : i32} : tensor<32x16xi8, #s> -> tensor<32x32xf16, #d>
    tt.return
  }
}
