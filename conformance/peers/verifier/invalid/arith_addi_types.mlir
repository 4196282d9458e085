// rule: arith.addi: the operands have one type
tt.func public @k(%x: i32, %y: i64) {
  %0 = arith.addi %x, %y : i32
  tt.return
}
