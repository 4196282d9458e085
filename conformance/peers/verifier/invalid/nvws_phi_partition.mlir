// rule: nvws.aref.phi: its partitions are said
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%x: i32, %y: i32) {
    %0 = nvws.aref.phi %x, %y : i32
    tt.return
  }
}
