// rule: tt.return: as many values as the function returns
tt.func public @k(%x: i32) {
  tt.return %x : i32
}
