// shows: arith.negf
tt.func public @k(%x: f16) {
  %0 = arith.negf %x : f16
  tt.return
}
