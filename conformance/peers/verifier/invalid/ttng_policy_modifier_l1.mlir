// rule: #ttng.cache_policy: a modifier or a priority of L1
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%p: !tt.ptr<f32>) {
    %0 = tt.load %p {cachePolicy = #ttng.cache_policy<cache_modifier = ca, l1 = evict_last>} : !tt.ptr<f32>
    tt.return
  }
}
