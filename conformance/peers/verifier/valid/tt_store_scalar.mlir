// shows: tt.store: one value, masked
tt.func public @k(%p: !tt.ptr<f32>, %v: f32, %m: i1) {
  tt.store %p, %v : !tt.ptr<f32>
  tt.store %p, %v, %m : !tt.ptr<f32>
  tt.return
}
