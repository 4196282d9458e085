// rule: a layout stands where the number of warps is known
#b2 = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
module {
  tt.func public @k(%a: tensor<64x64xf32, #b2>) {
    %0 = tt.precise_sqrt %a : tensor<64x64xf32, #b2>
    tt.return
  }
}
