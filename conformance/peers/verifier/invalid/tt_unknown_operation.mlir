// rule: tt: an operation of the dialect
tt.func public @k(%p: !tt.ptr<f32>) {
  tt.prefetch %p : !tt.ptr<f32>
  tt.return
}
