// shows: scf.for: the generic form
tt.func public @k(%n: i32) {
  "scf.for"(%n, %n, %n) ({
^bb0(%i: i32):
    scf.yield
  }) : (i32, i32, i32) -> ()
  tt.return
}
