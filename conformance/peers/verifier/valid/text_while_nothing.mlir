// shows: scf.while: carries nothing
tt.func public @k(%c: i1) {
  scf.while : () -> () {
    scf.condition(%c)
  } do {
    scf.yield
  }
  tt.return
}
