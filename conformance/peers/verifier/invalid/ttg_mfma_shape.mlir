// rule: #ttg.amd_mfma: 32x32, 16x16, 64x4 and 4x64
#x = #ttg.amd_mfma<{version = 3, warpsPerCTA = [4, 1], instrShape = [32, 16, 8], isTransposed = true}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @k(%a: tensor<64x64xf32, #x>) {
    tt.return
  }
}
