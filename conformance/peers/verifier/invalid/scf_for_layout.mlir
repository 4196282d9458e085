// rule: scf.yield: a carried tensor keeps its layout
#b2 = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#b2t = #ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [4, 8], warpsPerCTA = [1, 4], order = [0, 1]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%n: i32, %x: tensor<64x64xf32, #b2>, %y: tensor<64x64xf32, #b2t>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %0 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> (tensor<64x64xf32, #b2>) : i32 {
      scf.yield %y : tensor<64x64xf32, #b2t>
    }
    tt.return
  }
}
