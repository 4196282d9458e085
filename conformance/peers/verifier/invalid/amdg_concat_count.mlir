// rule: amdg.concat: as many parts as fit
#x = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @k(%a: tensor<32x64xf32, #x>) {
    %0 = amdg.concat %a, %a, %a : tensor<32x64xf32, #x>, tensor<32x64xf32, #x>, tensor<32x64xf32, #x> -> tensor<32x128xf32, #x>
    tt.return
  }
}
