// shows: tt.dot: operands of mfma
#mf = #ttg.amd_mfma<{version = 3, warpsPerCTA = [4, 1], instrShape = [32, 32, 8], isTransposed = true}>
#ma = #ttg.dot_op<{opIdx = 0, parent = #mf, kWidth = 4}>
#mb = #ttg.dot_op<{opIdx = 1, parent = #mf, kWidth = 4}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @k(%a: tensor<128x64xf16, #ma>, %b: tensor<64x64xf16, #mb>, %c: tensor<128x64xf32, #mf>) {
    %0 = tt.dot %a, %b, %c : tensor<128x64xf16, #ma> * tensor<64x64xf16, #mb> -> tensor<128x64xf32, #mf>
    tt.return
  }
}
