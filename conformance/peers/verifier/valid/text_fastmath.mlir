// shows: arith.mulf: fastmath
tt.func public @k(%x: f32) {
  %0 = arith.mulf %x, %x fastmath<fast> : f32
  %1 = arith.mulf %x, %x fastmath<nnan,ninf> : f32
  tt.return
}
