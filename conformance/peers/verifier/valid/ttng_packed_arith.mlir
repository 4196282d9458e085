// shows: ttng.packed_arith: sums and products of pairs
#b2 = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%a: tensor<64x64xf32, #b2>) {
    %0 = ttng.packed_arith add %a, %a : (tensor<64x64xf32, #b2>, tensor<64x64xf32, #b2>) -> tensor<64x64xf32, #b2>
    %1 = ttng.packed_arith fma %a, %a, %0 : (tensor<64x64xf32, #b2>, tensor<64x64xf32, #b2>, tensor<64x64xf32, #b2>) -> tensor<64x64xf32, #b2>
    tt.return
  }
}
