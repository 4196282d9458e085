// shows: tt.reshape: the layout that the elements' places give
#b1v = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#x = #ttg.blocked<{sizePerThread = [1, 1, 4], threadsPerWarp = [1, 32, 1], warpsPerCTA = [4, 1, 1], order = [2, 1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%a: tensor<4x32x4xf16, #x>) {
    %0 = tt.reshape %a : tensor<4x32x4xf16, #x> -> tensor<512xf16, #b1v>
    tt.return
  }
}
