// rule: a generic form has a function's type
tt.func public @k(%x: i32) {
  %0 = "arith.addi"(%x, %x) : i32
  tt.return
}
