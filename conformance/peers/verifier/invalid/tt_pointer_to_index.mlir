// rule: !tt.ptr: a pointer points to a number of a width, no index
tt.func public @k(%p: !tt.ptr<index>) {
  tt.return
}
