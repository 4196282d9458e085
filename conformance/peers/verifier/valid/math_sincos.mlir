// shows: math.sincos: two results
tt.func public @k(%x: f32) {
  %0, %1 = math.sincos %x : f32
  tt.return
}
