// shows: arith.constant: each kind of number
tt.func public @k() {
  %0 = arith.constant 1 : i32
  %1 = arith.constant -1 : i8
  %2 = arith.constant 255 : i8
  %3 = arith.constant true
  %4 = arith.constant 1.5 : f32
  %5 = arith.constant 0x7F800000 : f32
  %6 = arith.constant -1.0e-3 : bf16
  %7 = arith.constant 7 : index
  %8 = arith.constant 1 : i1
  %9 = arith.constant 0xFF : i32
  tt.return
}
