// rule: #ttg.dot_op: kWidth is 8 or 16 for wmma 1
#wm = #ttg.amd_wmma<{version = 1, isTranspose = true, ctaLayout = {warp = [[1, 0], [2, 0]]}}>
#x = #ttg.dot_op<{opIdx = 0, parent = #wm, kWidth = 4}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx1100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%a: tensor<64x64xf16, #x>) {
    tt.return
  }
}
