// rule: amdg.cond_barrier: the condition is i1
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "hip:gfx942", "ttg.threads-per-warp" = 64 : i32} {
  tt.func public @k(%p: i32) {
    amdg.cond_barrier %p
    tt.return
  }
}
