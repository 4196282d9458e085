// shows: arith.cmpf: each predicate
tt.func public @k(%x: f32) {
  %0 = arith.cmpf false, %x, %x : f32
  %1 = arith.cmpf oeq, %x, %x : f32
  %2 = arith.cmpf ogt, %x, %x : f32
  %3 = arith.cmpf oge, %x, %x : f32
  %4 = arith.cmpf olt, %x, %x : f32
  %5 = arith.cmpf ole, %x, %x : f32
  %6 = arith.cmpf one, %x, %x : f32
  %7 = arith.cmpf ord, %x, %x : f32
  %8 = arith.cmpf ueq, %x, %x : f32
  %9 = arith.cmpf ugt, %x, %x : f32
  %10 = arith.cmpf uge, %x, %x : f32
  %11 = arith.cmpf ult, %x, %x : f32
  %12 = arith.cmpf ule, %x, %x : f32
  %13 = arith.cmpf une, %x, %x : f32
  %14 = arith.cmpf uno, %x, %x : f32
  %15 = arith.cmpf true, %x, %x : f32
  tt.return
}
