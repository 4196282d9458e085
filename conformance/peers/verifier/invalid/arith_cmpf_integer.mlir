// rule: arith.cmpf: floats alone
tt.func public @k(%x: i32) {
  %0 = arith.cmpf olt, %x, %x : i32
  tt.return
}
