// rule: arith.bitcast: as many bits
tt.func public @k(%x: f32) {
  %0 = arith.bitcast %x : f32 to i16
  tt.return
}
