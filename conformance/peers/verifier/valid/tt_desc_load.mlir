// shows: tt.descriptor_load: the block, fewer axes, a policy
tt.func public @k(%d: !tt.tensordesc<1x64x32xf16>, %i: i32) {
  %0 = tt.descriptor_load %d[%i, %i, %i] : !tt.tensordesc<1x64x32xf16> -> tensor<1x64x32xf16>
  %1 = tt.descriptor_load %d[%i, %i, %i] : !tt.tensordesc<1x64x32xf16> -> tensor<64x32xf16>
  %2 = tt.descriptor_load %d[%i, %i, %i] {cachePolicy = #tt.cache_policy<cache_modifier = none, eviction_policy = evict_first>} : !tt.tensordesc<1x64x32xf16> -> tensor<64x32xf16>
  tt.return
}
