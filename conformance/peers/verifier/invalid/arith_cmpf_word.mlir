// rule: arith.cmpf: the predicate is a known word
tt.func public @k(%x: f32) {
  %0 = arith.cmpf slt, %x, %x : f32
  tt.return
}
