// rule: tt.store: it has no result
tt.func public @k(%p: !tt.ptr<f32>, %v: f32) {
  %0 = "tt.store"(%p, %v) : (!tt.ptr<f32>, f32) -> f32
  tt.return
}
