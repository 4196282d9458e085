// rule: ttng.packed_arith: the operands have the result's shape
#b2 = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%a: tensor<64x64xf32, #b2>, %b: tensor<64x32xf32, #b2>) {
    %0 = ttng.packed_arith add %a, %b : (tensor<64x64xf32, #b2>, tensor<64x32xf32, #b2>) -> tensor<64x64xf32, #b2>
    tt.return
  }
}
