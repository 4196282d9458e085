// shows: arith.divsi, arith.shrui: exact
tt.func public @k(%x: i32) {
  %0 = arith.divsi %x, %x exact : i32
  %1 = arith.shrui %x, %x exact : i32
  tt.return
}
