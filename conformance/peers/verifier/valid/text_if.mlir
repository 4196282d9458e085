// shows: scf.if: with and without else, nested
tt.func public @k(%c: i1, %x: i32) {
  scf.if %c {
    %y = arith.addi %x, %x : i32
  }
  scf.if %c {
    scf.if %c {
    }
  } else {
  }
  tt.return
}
