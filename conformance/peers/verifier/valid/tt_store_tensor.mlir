// shows: tt.store: a policy, and ignore_cta
tt.func public @k(%p: tensor<64x!tt.ptr<i8>>, %v: tensor<64xi8>, %m: tensor<64xi1>) {
  tt.store %p, %v {cachePolicy = #tt.cache_policy<cache_modifier = cs, eviction_policy = evict_first>} : tensor<64x!tt.ptr<i8>>
  tt.store %p, %v, %m {ignore_cta} : tensor<64x!tt.ptr<i8>>
  tt.return
}
