// rule: amdg.in_thread_transpose: the result's layout is the transposed one
#x = #ttg.blocked<{sizePerThread = [4, 4], threadsPerWarp = [4, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @k(%a: tensor<64x64xf16, #x>) {
    %0 = amdg.in_thread_transpose %a : tensor<64x64xf16, #x> -> tensor<64x64xf16, #x>
    tt.return
  }
}
