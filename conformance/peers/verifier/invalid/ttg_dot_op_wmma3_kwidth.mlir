// rule: #ttg.dot_op: kWidth is said for wmma 3
#w = #ttg.amd_wmma<{version = 3, isTranspose = true, ctaLayout = {warp = [[0, 1], [1, 0]]}, instrShape = [16, 16, 32]}>
#x = #ttg.dot_op<{opIdx = 0, parent = #w, kWidth = 0}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx1250", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%a: tensor<64x64xf16, #x>) {
    tt.return
  }
}
