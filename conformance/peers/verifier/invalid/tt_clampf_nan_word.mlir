// rule: tt.clampf: propagateNan is a known word
tt.func public @k(%x: f32) {
  %0 = tt.clampf %x, %x, %x, propagateNan = some : f32
  tt.return
}
