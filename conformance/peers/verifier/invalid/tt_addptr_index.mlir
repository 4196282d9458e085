// rule: tt.addptr: the offset is of i1 to i64, no index
tt.func public @k(%p: !tt.ptr<f32>, %o: index) {
  %0 = tt.addptr %p, %o : !tt.ptr<f32>, index
  tt.return
}
