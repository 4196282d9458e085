// rule: tt.clampf: propagateNan is said
tt.func public @k(%x: f32) {
  %0 = tt.clampf %x, %x, %x : f32
  tt.return
}
