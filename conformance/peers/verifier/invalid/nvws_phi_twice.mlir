// rule: nvws.aref.phi: a partition has one of the operands
module attributes {"ttg.num-warps" = 4 : i32} {
  tt.func @k() {
    %a = arith.constant {ttg.partition = array<i32: 0>} 3 : i32
    %b = arith.constant {ttg.partition = array<i32: 0>} 4 : i32
    %c = nvws.aref.phi %a, %b {ttg.partition = array<i32: 0>} : i32
    tt.return
  }
}
