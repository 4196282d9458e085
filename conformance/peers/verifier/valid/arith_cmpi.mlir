// shows: arith.cmpi: each predicate
tt.func public @k(%x: i32) {
  %0 = arith.cmpi eq, %x, %x : i32
  %1 = arith.cmpi ne, %x, %x : i32
  %2 = arith.cmpi slt, %x, %x : i32
  %3 = arith.cmpi sle, %x, %x : i32
  %4 = arith.cmpi sgt, %x, %x : i32
  %5 = arith.cmpi sge, %x, %x : i32
  %6 = arith.cmpi ult, %x, %x : i32
  %7 = arith.cmpi ule, %x, %x : i32
  %8 = arith.cmpi ugt, %x, %x : i32
  %9 = arith.cmpi uge, %x, %x : i32
  tt.return
}
