// shows: ttg.fp4_to_fp: the layout that follows
#b2 = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#x = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%a: tensor<64x32xi8, #b2>) {
    %0 = ttg.fp4_to_fp %a {axis = 1 : i32} : tensor<64x32xi8, #b2> -> tensor<64x64xf16, #x>
    tt.return
  }
}
