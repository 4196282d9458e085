// shows: scf.for: bounds of i32, i64 and index
tt.func public @k(%n: i32, %m: i64, %k: index) {
  scf.for %i = %n to %n step %n : i32 {
  }
  scf.for %i = %m to %m step %m : i64 {
  }
  scf.for %i = %k to %k step %k {
  }
  tt.return
}
