// rule: an operation says its type
tt.func public @k(%x: i32) {
  %0 = arith.addi %x, %x
  tt.return
}
