// shows: tt.reshape: allow_reorder and efficient_layout
#b1 = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#b2 = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%a: tensor<64x32xf16, #b2>) {
    %0 = tt.reshape %a allow_reorder : tensor<64x32xf16, #b2> -> tensor<2048xf16, #b1>
    %1 = tt.reshape %a allow_reorder efficient_layout : tensor<64x32xf16, #b2> -> tensor<2048xf16, #b1>
    tt.return
  }
}
