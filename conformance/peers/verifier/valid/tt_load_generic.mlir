// shows: tt.load: the generic form, with all properties
tt.func public @k(%p: tensor<64x!tt.ptr<f32>>, %m: tensor<64xi1>) {
  %0 = "tt.load"(%p, %m) <{cachePolicy = #tt.cache_policy<cache_modifier = ca, eviction_policy = evict_last>, isVolatile = false, operandSegmentSizes = array<i32: 1, 1, 0>}> : (tensor<64x!tt.ptr<f32>>, tensor<64xi1>) -> tensor<64xf32>
  tt.return
}
