// rule: tt.store: a modifier of stores
tt.func public @k(%p: !tt.ptr<f32>, %v: f32) {
  tt.store %p, %v {cachePolicy = #tt.cache_policy<cache_modifier = ca, eviction_policy = evict_normal>} : !tt.ptr<f32>
  tt.return
}
