// rule: amdg.in_thread_transpose: two axes
#a1 = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [64], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @k(%a: tensor<256xf16, #a1>) {
    %0 = amdg.in_thread_transpose %a : tensor<256xf16, #a1> -> tensor<256xf16, #a1>
    tt.return
  }
}
