// rule: scf.for: the step is said
tt.func public @k(%n: i32) {
  scf.for %i = %n to %n : i32 {
  }
  tt.return
}
