// shows: nvws.warp_group: two groups
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%x: i32) {
    nvws.warp_group
    partition0 num_warps(4) {
      nvws.warp_group.return
    }
    partition1 num_warps(8) {
      nvws.warp_group.return
    }
    tt.return
  }
}
