// rule: #tt.cache_policy: cache_modifier is one of the known words
tt.func public @k(%p: !tt.ptr<f32>) {
  %0 = tt.load %p {cachePolicy = #tt.cache_policy<cache_modifier = warm, eviction_policy = evict_normal>} : !tt.ptr<f32>
  tt.return
}
