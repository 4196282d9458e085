// rule: tt.mulhiui: integers alone
tt.func public @k(%x: f32) {
  %0 = tt.mulhiui %x, %x : f32
  tt.return
}
