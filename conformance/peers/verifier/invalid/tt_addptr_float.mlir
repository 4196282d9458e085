// rule: tt.addptr: the offset is an integer
tt.func public @k(%p: !tt.ptr<f32>, %o: f32) {
  %0 = tt.addptr %p, %o : !tt.ptr<f32>, f32
  tt.return
}
