// shows: tt.dot: operands of wmma
#wm = #ttg.amd_wmma<{version = 1, isTranspose = true, ctaLayout = {warp = [[1, 0], [2, 0]]}}>
#wa = #ttg.dot_op<{opIdx = 0, parent = #wm, kWidth = 16}>
#wb = #ttg.dot_op<{opIdx = 1, parent = #wm, kWidth = 16}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx1100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%a: tensor<64x64xf16, #wa>, %b: tensor<64x64xf16, #wb>, %c: tensor<64x64xf32, #wm>) {
    %0 = tt.dot %a, %b, %c : tensor<64x64xf16, #wa> * tensor<64x64xf16, #wb> -> tensor<64x64xf32, #wm>
    tt.return
  }
}
