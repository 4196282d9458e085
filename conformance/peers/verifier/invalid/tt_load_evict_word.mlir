// rule: #tt.cache_policy: eviction_policy is one of the known words
tt.func public @k(%p: !tt.ptr<f32>) {
  %0 = tt.load %p {cachePolicy = #tt.cache_policy<cache_modifier = none, eviction_policy = evict_never>} : !tt.ptr<f32>
  tt.return
}
