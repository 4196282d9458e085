// shows: math.fpowi and math.ipowi
tt.func public @k(%x: f32, %i: i32) {
  %0 = math.fpowi %x, %i : f32, i32
  %1 = math.ipowi %i, %i : i32
  tt.return
}
