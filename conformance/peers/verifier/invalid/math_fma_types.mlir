// rule: math.fma: the operands have one type
tt.func public @k(%x: f32, %y: f16) {
  %0 = math.fma %x, %x, %y : f32
  tt.return
}
