// rule: arith.extf: to more bits
tt.func public @k(%x: f32) {
  %0 = arith.extf %x : f32 to f16
  tt.return
}
