// rule: a value that is used is made
tt.func public @k(%x: i32) {
  %y = arith.addi %x, %z : i32
  tt.return
}
