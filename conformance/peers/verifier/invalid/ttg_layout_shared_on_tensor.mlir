// rule: a tensor has no layout of shared memory
#w2 = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%a: tensor<64x64xf32, #w2>) {
    %1 = tt.precise_sqrt %a : tensor<64x64xf32, #w2>
    tt.return
  }
}
