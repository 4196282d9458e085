// rule: tt.print: the prefix is a string
tt.func public @k(%x: i32) {
  tt.print %x {hex = false, isSigned = array<i32: 1>} : %x : i32
  tt.return
}
