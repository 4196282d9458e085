// rule: ttg.global_scratch_alloc: nbytes is said
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k() {
    %0 = ttg.global_scratch_alloc {alignment = 128 : i32} : !tt.ptr<i8>
    tt.return
  }
}
