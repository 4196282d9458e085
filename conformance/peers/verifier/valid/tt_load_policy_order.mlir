// shows: #tt.cache_policy: its parameters in another order
tt.func public @k(%p: !tt.ptr<f32>) {
  %0 = tt.load %p {cachePolicy = #tt.cache_policy<eviction_policy = evict_first, cache_modifier = ca>} : !tt.ptr<f32>
  tt.return
}
