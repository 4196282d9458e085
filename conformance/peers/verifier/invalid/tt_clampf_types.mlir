// rule: tt.clampf: the operands have one type
tt.func public @k(%x: f32, %y: f16) {
  %0 = "tt.clampf"(%x, %y, %x) <{propagateNan = 0 : i32}> : (f32, f16, f32) -> f32
  tt.return
}
