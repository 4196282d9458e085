// shows: #ttg.amd_mfma: each shape of instruction, several tiles, f64
#mf = #ttg.amd_mfma<{version = 3, warpsPerCTA = [4, 1], instrShape = [32, 32, 8], isTransposed = true}>
#x = #ttg.amd_mfma<{version = 4, warpsPerCTA = [2, 2], instrShape = [16, 16, 32], isTransposed = false, tilesPerWarp = [2, 2]}>
#y = #ttg.amd_mfma<{version = 3, warpsPerCTA = [2, 2], instrShape = [16, 16, 4], isTransposed = false, elementBitWidth = 64}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @k(%a: tensor<128x128xf32, #mf>, %b: tensor<128x128xf32, #x>, %c: tensor<64x64xf64, #y>) {
    %0 = tt.precise_sqrt %a : tensor<128x128xf32, #mf>
    %1 = tt.precise_sqrt %b : tensor<128x128xf32, #x>
    %2 = arith.addf %c, %c : tensor<64x64xf64, #y>
    tt.return
  }
}
