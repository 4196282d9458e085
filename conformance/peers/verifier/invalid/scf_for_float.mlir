// rule: scf.for: the bounds are integers
tt.func public @k(%n: f32) {
  scf.for %i = %n to %n step %n : f32 {
  }
  tt.return
}
