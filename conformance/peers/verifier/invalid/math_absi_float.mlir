// rule: math.absi: integers alone
tt.func public @k(%x: f32) {
  %0 = math.absi %x : f32
  tt.return
}
