// rule: amdg.buffer_atomic_rmw: the result has the value's type
#a1 = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [64], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @k(%p: !tt.ptr<f32>, %o: tensor<256xi32, #a1>, %v: tensor<256xi32, #a1>) {
    %0 = "amdg.buffer_atomic_rmw"(%p, %o, %v) <{atomic_rmw_op = 4 : i32, sem = 1 : i32, scope = 1 : i32, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>}> : (!tt.ptr<f32>, tensor<256xi32, #a1>, tensor<256xi32, #a1>) -> tensor<256xf32, #a1>
    tt.return
  }
}
