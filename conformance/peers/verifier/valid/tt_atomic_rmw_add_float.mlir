// shows: tt.atomic_rmw: add of floats is not looked at
tt.func public @k(%p: !tt.ptr<f32>, %v: f32) {
  %0 = tt.atomic_rmw add, relaxed, gpu, %p, %v : (!tt.ptr<f32>, f32) -> f32
  tt.return
}
