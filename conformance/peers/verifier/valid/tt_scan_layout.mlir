// shows: tt.scan: the layout stays
#b2 = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%a: tensor<64x64xi32, #b2>) {
    %0 = "tt.scan"(%a) <{axis = 0 : i32, reverse = false}> ({
  ^bb0(%x: i32, %y: i32):
      %s = arith.xori %x, %y : i32
      tt.scan.return %s : i32
    }) : (tensor<64x64xi32, #b2>) -> tensor<64x64xi32, #b2>
    tt.return
  }
}
