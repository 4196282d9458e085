// rule: a function's arguments have different names
tt.func public @k(%x: i32, %x: i32) {
  tt.return
}
