// shows: math.powf: two operands
tt.func public @k(%x: f32) {
  %0 = math.powf %x, %x : f32
  tt.return
}
