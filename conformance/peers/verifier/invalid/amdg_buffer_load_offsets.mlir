// rule: amdg.buffer_load: an offset for each element
#a1 = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [64], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @k(%p: !tt.ptr<f32>, %o: tensor<128xi32, #a1>) {
    %0 = amdg.buffer_load %p[%o] : !tt.ptr<f32> -> tensor<256xf32, #a1>
    tt.return
  }
}
