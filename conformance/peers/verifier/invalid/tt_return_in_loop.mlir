// rule: tt.return: it stands in the function itself
tt.func public @k(%n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
    tt.return
  }
  tt.return
}
