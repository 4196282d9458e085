// rule: arith.select: the condition is of i1
tt.func public @k(%c: i32, %x: f32) {
  %0 = arith.select %c, %x, %x : f32
  tt.return
}
