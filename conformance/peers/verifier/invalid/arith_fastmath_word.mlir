// rule: arith.addf: fastmath is of known words
tt.func public @k(%x: f32) {
  %0 = arith.addf %x, %x fastmath<quick> : f32
  tt.return
}
