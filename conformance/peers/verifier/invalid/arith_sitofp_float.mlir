// rule: arith.sitofp: from an integer
tt.func public @k(%x: f32) {
  %0 = arith.sitofp %x : f32 to f16
  tt.return
}
