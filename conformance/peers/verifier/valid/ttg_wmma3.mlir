// shows: #ttg.amd_wmma: version 3 with a shape and registers in ctaLayout
#w = #ttg.amd_wmma<{version = 3, isTranspose = true, ctaLayout = {register = [[0, 1]], warp = [[0, 2], [1, 0]]}, instrShape = [16, 16, 32]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx1250", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%a: tensor<64x64xf32, #w>) {
    %0 = tt.precise_sqrt %a : tensor<64x64xf32, #w>
    tt.return
  }
}
