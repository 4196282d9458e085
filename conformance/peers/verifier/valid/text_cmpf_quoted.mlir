// shows: arith.cmpf: the predicate in quotes
tt.func public @k(%x: f32) {
  %0 = arith.cmpf "oge", %x, %x : f32
  tt.return
}
