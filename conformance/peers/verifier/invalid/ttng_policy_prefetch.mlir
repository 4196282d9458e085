// rule: #ttng.cache_policy: a prefetch is of 64, 128 or 256 bytes
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%p: !tt.ptr<f32>) {
    %0 = tt.load %p {cachePolicy = #ttng.cache_policy<l2_prefetch_size = 96 : i32>} : !tt.ptr<f32>
    tt.return
  }
}
