// rule: tt.atomic_store: the value is what the pointer points to
tt.func public @k(%p: !tt.ptr<i32>, %v: f32) {
  tt.atomic_store release, gpu, %p, %v : !tt.ptr<i32>
  tt.return
}
