// rule: scf.if: the condition is i1
tt.func public @k(%c: i32) {
  scf.if %c {
  }
  tt.return
}
