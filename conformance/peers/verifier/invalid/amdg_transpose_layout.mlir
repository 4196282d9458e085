// rule: amdg.in_thread_transpose: the source's layout is blocked
#mf = #ttg.amd_mfma<{version = 3, warpsPerCTA = [4, 1], instrShape = [32, 32, 8], isTransposed = true}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @k(%a: tensor<64x64xf16, #mf>) {
    %0 = amdg.in_thread_transpose %a : tensor<64x64xf16, #mf> -> tensor<64x64xf16, #mf>
    tt.return
  }
}
