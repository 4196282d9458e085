// rule: arith.truncf: to fewer bits
tt.func public @k(%x: f16) {
  %0 = arith.truncf %x : f16 to f32
  tt.return
}
