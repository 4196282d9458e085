// rule: tt.reshape: splitting an axis keeps the elements' places
#b1 = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#b2 = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%a: tensor<1024xf16, #b1>) {
    %0 = tt.reshape %a : tensor<1024xf16, #b1> -> tensor<32x32xf16, #b2>
    tt.return
  }
}
