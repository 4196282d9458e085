// shows: tt.load: one pointer
tt.func public @k(%p: !tt.ptr<f32>) {
  %0 = tt.load %p : !tt.ptr<f32>
  tt.return
}
