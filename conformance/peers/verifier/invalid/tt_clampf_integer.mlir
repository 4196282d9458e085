// rule: tt.clampf: floats alone
tt.func public @k(%x: i32) {
  %0 = tt.clampf %x, %x, %x, propagateNan = none : i32
  tt.return
}
