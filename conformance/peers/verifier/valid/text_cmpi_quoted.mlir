// shows: arith.cmpi: the predicate in quotes
tt.func public @k(%x: i32) {
  %0 = arith.cmpi "slt", %x, %x : i32
  %1 = arith.cmpi slt, %x, %x : i32
  tt.return
}
