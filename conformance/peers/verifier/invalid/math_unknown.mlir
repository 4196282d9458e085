// rule: math: an operation of the dialect
tt.func public @k(%x: f32) {
  %0 = math.exp10 %x : f32
  tt.return
}
