// shows: #ttg.nvidia_mma: versions 2 and 3, f64
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
#mma3 = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
#x = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [8, 8]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%a: tensor<64x64xf32, #mma>, %b: tensor<64x64xf32, #mma3>, %c: tensor<64x64xf64, #x>) {
    %0 = tt.precise_sqrt %a : tensor<64x64xf32, #mma>
    %1 = tt.precise_sqrt %b : tensor<64x64xf32, #mma3>
    %2 = arith.addf %c, %c : tensor<64x64xf64, #x>
    tt.return
  }
}
