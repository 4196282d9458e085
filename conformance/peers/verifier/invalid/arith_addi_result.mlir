// rule: arith.addi: the result has the operands' type
tt.func public @k(%x: i32) {
  %0 = "arith.addi"(%x, %x) : (i32, i32) -> i64
  tt.return
}
