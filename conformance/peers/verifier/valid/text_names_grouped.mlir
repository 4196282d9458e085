// shows: a name for two results of three
tt.func public @k(%x: i32, %c: i1) {
  %a:2, %b = scf.if %c -> (i32, i32, i32) {
    scf.yield %x, %x, %x : i32, i32, i32
  } else {
    scf.yield %x, %x, %x : i32, i32, i32
  }
  %d = arith.addi %a#1, %b : i32
  tt.return
}
