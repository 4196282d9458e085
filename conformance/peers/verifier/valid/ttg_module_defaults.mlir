// shows: the module says its warps alone
#b2 = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-warps" = 4 : i32} {
  tt.func public @k(%a: tensor<64x64xf32, #b2>) {
    %0 = tt.precise_sqrt %a : tensor<64x64xf32, #b2>
    tt.return
  }
}
