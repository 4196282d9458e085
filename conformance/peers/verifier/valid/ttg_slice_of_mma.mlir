// shows: #ttg.slice: of a matrix instruction's layout
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
#x = #ttg.slice<{dim = 1, parent = #mma}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%a: tensor<64xf32, #x>) {
    %0 = tt.expand_dims %a {axis = 1 : i32} : tensor<64xf32, #x> -> tensor<64x1xf32, #mma>
    tt.return
  }
}
