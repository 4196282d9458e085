// shows: scf.for: compared without a sign
tt.func public @k(%n: i32) {
  scf.for unsigned %i = %n to %n step %n : i32 {
  }
  tt.return
}
