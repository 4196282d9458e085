// rule: arith.fptosi: to an integer
tt.func public @k(%x: f32) {
  %0 = arith.fptosi %x : f32 to f16
  tt.return
}
