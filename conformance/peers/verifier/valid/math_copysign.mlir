// shows: math.copysign: two operands
tt.func public @k(%x: f32) {
  %0 = math.copysign %x, %x : f32
  tt.return
}
