// rule: a name and an operation stand apart by an equals sign
tt.func public @k(%x: i32) {
  %0 arith.addi %x, %x : i32
  tt.return
}
