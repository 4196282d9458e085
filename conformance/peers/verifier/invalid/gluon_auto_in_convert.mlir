// rule: gluon.set_auto_layout: the element type stays
#b2 = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%a: tensor<64x64xf32, #gluon.auto_encoding>) {
    %0 = gluon.set_auto_layout %a : tensor<64x64xf32, #gluon.auto_encoding> -> tensor<64x64xf16, #b2>
    tt.return
  }
}
