// shows: amdg.in_thread_transpose: four columns of a thread become rows
#x = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#y = #ttg.linear<{register = [[0, 1], [0, 2]], lane = [[0, 4], [0, 8], [0, 16], [0, 32], [1, 0], [2, 0]], warp = [[4, 0], [8, 0]], block = []}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @k(%a: tensor<16x64xf16, #x>) {
    %0 = amdg.in_thread_transpose %a : tensor<16x64xf16, #x> -> tensor<16x64xf16, #y>
    tt.return
  }
}
