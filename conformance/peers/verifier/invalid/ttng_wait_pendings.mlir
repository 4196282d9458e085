// rule: ttng.warp_group_dot_wait: pendings is said
#mma3 = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%c: tensor<64x64xf32, #mma3>) {
    %0 = ttng.warp_group_dot_wait %c : tensor<64x64xf32, #mma3>
    tt.return
  }
}
