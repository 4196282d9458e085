// shows: scf.execute_region: blocks within
tt.func public @k(%x: i32) {
  %0 = scf.execute_region -> i32 {
    cf.br ^a
^a:
    scf.yield %x : i32
  }
  tt.return
}
