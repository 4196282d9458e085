// rule: tt.precise_divf: operands have one type
tt.func public @k(%x: f32, %y: f64) {
  %0 = tt.precise_divf %x, %y : f32
  tt.return
}
