// rule: amdg.concat: the rank stays
#a1 = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [64], warpsPerCTA = [4], order = [0]}>
#x = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @k(%a: tensor<256xf32, #a1>) {
    %0 = amdg.concat %a, %a : tensor<256xf32, #a1>, tensor<256xf32, #a1> -> tensor<4x128xf32, #x>
    tt.return
  }
}
