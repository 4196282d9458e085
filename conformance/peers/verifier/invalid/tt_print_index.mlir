// rule: tt.print: the values are of tt's types
tt.func public @k(%x: index) {
  tt.print "x: " {hex = false, isSigned = array<i32: 1>} : %x : index
  tt.return
}
