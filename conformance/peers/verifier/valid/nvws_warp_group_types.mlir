// shows: nvws.warp_group: attributes, and no partition
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k() {
    nvws.warp_group attributes {mark = 1 : i32}
    tt.return
  }
}
