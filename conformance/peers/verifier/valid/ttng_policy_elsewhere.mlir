// shows: #ttng.cache_policy: a module for another vendor's target has it
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @k(%p: !tt.ptr<f32>) {
    %0 = tt.load %p {cachePolicy = #ttng.cache_policy<l1 = evict_last>} : !tt.ptr<f32>
    tt.return
  }
}
