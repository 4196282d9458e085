// rule: ttg.warp_specialize: the second region holds the partitions
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k() {
    "ttg.warp_specialize"() <{partitionNumWarps = array<i32>}> ({
      ttg.warp_yield
    }, {
      ttg.warp_yield
    }) : () -> ()
    tt.return
  }
}
