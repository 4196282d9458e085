// shows: amdg.buffer_atomic_rmw and amdg.buffer_atomic_cas
#a1 = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [64], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @k(%p: !tt.ptr<f32>, %q: !tt.ptr<i32>, %o: tensor<256xi32, #a1>, %m: tensor<256xi1, #a1>, %v: tensor<256xf32, #a1>, %s: i32) {
    %0 = amdg.buffer_atomic_rmw fadd, acq_rel, gpu, %v, %p[%o] : !tt.ptr<f32> -> tensor<256xf32, #a1>
    %1 = amdg.buffer_atomic_rmw fadd, relaxed, gpu, %v, %p[%o], %m stride = %s : !tt.ptr<f32> -> tensor<256xf32, #a1>
    %2 = amdg.buffer_atomic_cas acq_rel, gpu, %o, %o, %q[%o] : !tt.ptr<i32> -> tensor<256xi32, #a1>
    %3 = amdg.buffer_atomic_cas acq_rel, gpu, %o, %o, %q[%o] stride = %s : !tt.ptr<i32> -> tensor<256xi32, #a1>
    tt.return
  }
}
