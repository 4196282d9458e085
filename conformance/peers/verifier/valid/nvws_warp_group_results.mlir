// shows: nvws.warp_group: results of the first group, in the generic form
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%x: i32) {
    %0 = "nvws.warp_group"() <{numWarps = array<i32: 4, 8>}> ({
      nvws.warp_group.yield %x : i32
    }, {
      nvws.warp_group.return
    }) : () -> i32
    tt.return
  }
}
