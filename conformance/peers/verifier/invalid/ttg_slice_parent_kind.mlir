// rule: #ttg.slice: the parent is a layout of registers
#w2 = #ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>
#x = #ttg.slice<{dim = 0, parent = #w2}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%a: tensor<64xf32, #x>) {
    tt.return
  }
}
