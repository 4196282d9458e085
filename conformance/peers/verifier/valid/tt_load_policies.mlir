// shows: #tt.cache_policy: each modifier, each policy
tt.func public @k(%p: !tt.ptr<f32>) {
  %0 = tt.load %p {cachePolicy = #tt.cache_policy<cache_modifier = none, eviction_policy = evict_first>} : !tt.ptr<f32>
  %1 = tt.load %p {cachePolicy = #tt.cache_policy<cache_modifier = cg, eviction_policy = evict_normal>} : !tt.ptr<f32>
  %2 = tt.load %p {cachePolicy = #tt.cache_policy<cache_modifier = cv, eviction_policy = evict_last>} : !tt.ptr<f32>
  tt.return
}
