// rule: arith.addi: two operands
tt.func public @k(%x: i32) {
  %0 = "arith.addi"(%x, %x, %x) : (i32, i32, i32) -> i32
  tt.return
}
