// rule: arith.select: both values have one type
tt.func public @k(%c: i1, %x: f32, %y: f16) {
  %0 = arith.select %c, %x, %y : f32
  tt.return
}
