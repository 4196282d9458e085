// shows: nvws.aref.phi: one value of each of two partitions
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:100", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%x: i32) {
    %a = arith.addi %x, %x {ttg.partition = array<i32: 0>} : i32
    %b = arith.muli %x, %x {ttg.partition = array<i32: 1>} : i32
    %0 = nvws.aref.phi %a, %b {ttg.partition = array<i32: 0, 1>} : i32
    tt.return
  }
}
