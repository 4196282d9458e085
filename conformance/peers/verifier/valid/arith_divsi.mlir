// shows: arith.divsi: scalars and tensors
#b2 = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%x: i32, %y: tensor<64x64xi64, #b2>) {
    %0 = arith.divsi %x, %x : i32
    %1 = arith.divsi %y, %y : tensor<64x64xi64, #b2>
    tt.return
  }
}
