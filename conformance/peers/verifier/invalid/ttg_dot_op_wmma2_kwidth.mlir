// rule: #ttg.dot_op: kWidth is 4, 8 or 16 for wmma 2
#w = #ttg.amd_wmma<{version = 2, isTranspose = false, ctaLayout = {warp = [[0, 1], [1, 0]]}}>
#x = #ttg.dot_op<{opIdx = 0, parent = #w, kWidth = 2}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx1200", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%a: tensor<64x64xf16, #x>) {
    tt.return
  }
}
