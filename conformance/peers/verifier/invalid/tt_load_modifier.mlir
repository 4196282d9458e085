// rule: tt.load: a modifier of loads
tt.func public @k(%p: !tt.ptr<f32>) {
  %0 = tt.load %p {cachePolicy = #tt.cache_policy<cache_modifier = wb, eviction_policy = evict_normal>} : !tt.ptr<f32>
  tt.return
}
