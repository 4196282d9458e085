// shows: math.atan2: two operands
tt.func public @k(%x: f32) {
  %0 = math.atan2 %x, %x : f32
  tt.return
}
