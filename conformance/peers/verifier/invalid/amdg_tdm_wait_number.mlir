// rule: amdg.async_tdm_wait: num is said
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx1250", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k() {
    %t = ttg.async_commit_group
    %0 = amdg.async_tdm_wait %t
    tt.return
  }
}
