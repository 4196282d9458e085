// shows: tt.store: the generic form
tt.func public @k(%p: !tt.ptr<f32>, %v: f32) {
  "tt.store"(%p, %v) : (!tt.ptr<f32>, f32) -> ()
  tt.return
}
