// rule: tt.print: isSigned is an array of i32
tt.func public @k(%x: i32) {
  tt.print "x: " {hex = false, isSigned = array<i64: 1>} : %x : i32
  tt.return
}
