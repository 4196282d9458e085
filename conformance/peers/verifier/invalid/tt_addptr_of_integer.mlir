// rule: tt.addptr: the first operand is a pointer
tt.func public @k(%p: i64, %o: i32) {
  %0 = tt.addptr %p, %o : i64, i32
  tt.return
}
