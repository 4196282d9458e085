// shows: ttg.warp_specialize: the generic form
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%x: i32) {
    "ttg.warp_specialize"() <{partitionNumWarps = array<i32: 4>}> ({
      ttg.warp_yield
    }, {
      "ttg.warp_specialize.partitions"(%x) ({
      ^bb0(%a: i32):
        ttg.warp_return
      }) : (i32) -> ()
    }) : () -> ()
    tt.return
  }
}
