// shows: amdg.buffer_load: plain, masked, with other, a stride, a policy, contiguity
#a1 = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [64], warpsPerCTA = [4], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @k(%p: !tt.ptr<f32>, %o: tensor<256xi32, #a1>, %m: tensor<256xi1, #a1>, %v: tensor<256xf32, #a1>, %s: i32) {
    %0 = amdg.buffer_load %p[%o] : !tt.ptr<f32> -> tensor<256xf32, #a1>
    %1 = amdg.buffer_load %p[%o], %m : !tt.ptr<f32> -> tensor<256xf32, #a1>
    %2 = amdg.buffer_load %p[%o], %m, %v : !tt.ptr<f32> -> tensor<256xf32, #a1>
    %3 = amdg.buffer_load %p[%o], %m, %v stride = %s {contiguity = 4 : i32, cachePolicy = #tt.cache_policy<cache_modifier = cs, eviction_policy = evict_normal>} : !tt.ptr<f32> -> tensor<256xf32, #a1>
    tt.return
  }
}
