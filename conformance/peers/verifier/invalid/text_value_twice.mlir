// rule: a value has its name once
tt.func public @k(%x: i32) {
  %y = arith.addi %x, %x : i32
  %y = arith.muli %x, %x : i32
  tt.return
}
