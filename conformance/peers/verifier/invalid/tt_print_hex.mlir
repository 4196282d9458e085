// rule: tt.print: hex is said
tt.func public @k(%x: i32) {
  tt.print "x: " {isSigned = array<i32: 1>} : %x : i32
  tt.return
}
