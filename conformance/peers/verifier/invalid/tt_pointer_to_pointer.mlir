// rule: !tt.ptr: a pointer points to a number, no pointer
tt.func public @k(%p: !tt.ptr<!tt.ptr<f32>>) {
  tt.return
}
