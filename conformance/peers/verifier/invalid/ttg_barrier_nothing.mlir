// rule: ttg.barrier: it names a memory
module attributes {"ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k() {
    ttg.barrier
  }
}
