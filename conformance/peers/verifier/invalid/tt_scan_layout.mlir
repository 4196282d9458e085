// rule: tt.scan: the result has the operand's layout
#b2 = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#b2t = #ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [4, 8], warpsPerCTA = [1, 4], order = [0, 1]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%a: tensor<64x64xf32, #b2>) {
    %0 = "tt.scan"(%a) <{axis = 0 : i32, reverse = false}> ({
  ^bb0(%x: f32, %y: f32):
      tt.scan.return %y : f32
    }) : (tensor<64x64xf32, #b2>) -> tensor<64x64xf32, #b2t>
    tt.return
  }
}
