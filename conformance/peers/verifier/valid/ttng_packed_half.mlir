// shows: ttng.packed_arith: least, greatest, products of f16
#b2 = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%a: tensor<64x64xf16, #b2>) {
    %0 = ttng.packed_arith min %a, %a : (tensor<64x64xf16, #b2>, tensor<64x64xf16, #b2>) -> tensor<64x64xf16, #b2>
    %1 = ttng.packed_arith max %a, %0 : (tensor<64x64xf16, #b2>, tensor<64x64xf16, #b2>) -> tensor<64x64xf16, #b2>
    %2 = ttng.packed_arith mul %a, %1 : (tensor<64x64xf16, #b2>, tensor<64x64xf16, #b2>) -> tensor<64x64xf16, #b2>
    tt.return
  }
}
