// rule: #ttng.cache_policy: L2's second priority is a known one
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%p: !tt.ptr<f32>) {
    %0 = tt.load %p {cachePolicy = #ttng.cache_policy<l2_primary = evict_last, l2_secondary = evict_last, l2_fraction = 0.5 : f32>} : !tt.ptr<f32>
    tt.return
  }
}
