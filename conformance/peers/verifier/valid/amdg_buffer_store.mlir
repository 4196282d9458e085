// shows: amdg.buffer_store: plain, masked, with a stride
#a1 = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [64], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @k(%p: !tt.ptr<f32>, %o: tensor<256xi32, #a1>, %m: tensor<256xi1, #a1>, %v: tensor<256xf32, #a1>, %s: i32) {
    amdg.buffer_store %v, %p[%o] : !tt.ptr<f32> -> tensor<256xf32, #a1>
    amdg.buffer_store %v, %p[%o], %m : !tt.ptr<f32> -> tensor<256xf32, #a1>
    amdg.buffer_store %v, %p[%o], %m stride = %s : !tt.ptr<f32> -> tensor<256xf32, #a1>
    tt.return
  }
}
