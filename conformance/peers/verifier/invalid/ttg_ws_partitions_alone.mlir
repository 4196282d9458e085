// rule: ttg.warp_specialize.partitions: it stands in a ttg.warp_specialize
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k() {
    "ttg.warp_specialize.partitions"() ({
      ttg.warp_return
    }) : () -> ()
    tt.return
  }
}
