// rule: ttng.async_copy_mbarrier_arrive: it takes memory
#b1 = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%b: tensor<128xi64, #b1>) {
    ttng.async_copy_mbarrier_arrive %b : tensor<128xi64, #b1>
    tt.return
  }
}
