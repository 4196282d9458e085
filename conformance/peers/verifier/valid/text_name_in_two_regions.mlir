// shows: one name in two regions
tt.func public @k(%x: i32, %c: i1) {
  %0 = scf.if %c -> (i32) {
    %t = arith.addi %x, %x : i32
    scf.yield %t : i32
  } else {
    %t = arith.muli %x, %x : i32
    scf.yield %t : i32
  }
  tt.return
}
