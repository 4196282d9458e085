// rule: in one block a value stands before its uses
tt.func public @k(%x: i32) {
  %z = arith.addi %y, %x : i32
  %y = arith.addi %x, %x : i32
  tt.return
}
