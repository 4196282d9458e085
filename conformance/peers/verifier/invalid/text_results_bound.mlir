// rule: as many names as results
tt.func public @k(%x: i32) {
  %0:2 = arith.addi %x, %x : i32
  tt.return
}
