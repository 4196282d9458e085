// shows: math.clampf: a word before its bounds
tt.func public @k(%x: f32) {
  %0 = math.clampf %x to [%x, %x] : f32
  tt.return
}
