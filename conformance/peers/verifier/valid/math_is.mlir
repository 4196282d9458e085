// shows: math.isnan and its kind
tt.func public @k(%x: f32) {
  %0 = math.isnan %x : f32
  %1 = math.isinf %x : f32
  %2 = math.isfinite %x : f32
  %3 = math.isnormal %x : f32
  tt.return
}
