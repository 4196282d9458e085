// shows: #ttng.cache_policy: priorities of both caches, a fraction, a prefetch
#b2 = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%p: tensor<64x64x!tt.ptr<f16>, #b2>) {
    %0 = tt.load %p {cachePolicy = #ttng.cache_policy<l1 = no_allocate, l2_primary = evict_last, l2_secondary = evict_unchanged, l2_fraction = 5.000000e-01 : f32, l2_prefetch_size = 128 : i32>} : tensor<64x64x!tt.ptr<f16>, #b2>
    %1 = tt.load %p {cachePolicy = #ttng.cache_policy<cache_modifier = ca>} : tensor<64x64x!tt.ptr<f16>, #b2>
    %2 = tt.load %p {cachePolicy = #ttng.cache_policy<l1 = evict_last>} : tensor<64x64x!tt.ptr<f16>, #b2>
    tt.return
  }
}
