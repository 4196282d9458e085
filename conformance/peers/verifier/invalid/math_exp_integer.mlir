// rule: math.exp: floats alone
tt.func public @k(%x: i32) {
  %0 = math.exp %x : i32
  tt.return
}
