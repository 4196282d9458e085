// shows: #ttg.amd_wmma: version 2 and its operands
#w = #ttg.amd_wmma<{version = 2, isTranspose = false, ctaLayout = {warp = [[0, 1], [1, 0]]}}>
#x = #ttg.dot_op<{opIdx = 0, parent = #w, kWidth = 8}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx1200", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%a: tensor<64x64xf16, #x>, %c: tensor<64x64xf32, #w>) {
    %0 = tt.precise_sqrt %c : tensor<64x64xf32, #w>
    %1 = arith.addf %a, %a : tensor<64x64xf16, #x>
    tt.return
  }
}
