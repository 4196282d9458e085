// shows: tt.dot: `mma` multiplies f32 as tf32
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
#a = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 1}>
#b = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 1}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%a: tensor<64x16xf32, #a>, %b: tensor<16x32xf32, #b>) {
    %c = arith.constant dense<0.0> : tensor<64x32xf32, #mma>
    %r = tt.dot %a, %b, %c, inputPrecision = tf32 : tensor<64x16xf32, #a> * tensor<16x32xf32, #b> -> tensor<64x32xf32, #mma>
    tt.return
  }
}
