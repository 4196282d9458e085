// rule: amdg.scaled_upcast_fp4: a lane has the scales of its results
#x = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [1, 1], order = [1, 0]}>
#y = #ttg.blocked<{sizePerThread = [1, 16], threadsPerWarp = [8, 4], warpsPerCTA = [1, 1], order = [1, 0]}>
#z = #ttg.blocked<{sizePerThread = [1, 16], threadsPerWarp = [4, 8], warpsPerCTA = [1, 1], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 1 : i32, ttg.target = "hip:gfx1250", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%x: tensor<8x32xi8, #x>, %s: tensor<8x64xi8, #z>) {
    %0 = amdg.scaled_upcast_fp4 %x scale %s {axis = 1 : i32} : tensor<8x32xi8, #x>, tensor<8x64xi8, #z> -> tensor<8x64xf16, #y>
    tt.return
  }
}
