// rule: #tt.cache_policy: its parameters are cache_modifier and eviction_policy
tt.func public @k(%p: !tt.ptr<f32>) {
  %0 = tt.load %p {cachePolicy = #tt.cache_policy<modifier = ca, eviction_policy = evict_normal>} : !tt.ptr<f32>
  tt.return
}
