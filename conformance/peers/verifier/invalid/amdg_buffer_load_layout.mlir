// rule: amdg.buffer_load: the result has the offsets' layout
#a2 = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#x = #ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [8, 8], warpsPerCTA = [1, 4], order = [0, 1]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @k(%p: !tt.ptr<f32>, %o: tensor<64x64xi32, #a2>) {
    %0 = "amdg.buffer_load"(%p, %o) <{operandSegmentSizes = array<i32: 1, 1, 0, 0, 0>}> : (!tt.ptr<f32>, tensor<64x64xi32, #a2>) -> tensor<64x64xf32, #x>
    tt.return
  }
}
