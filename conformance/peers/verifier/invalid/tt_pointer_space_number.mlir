// rule: !tt.ptr: the address space is a string
tt.func public @k(%p: !tt.ptr<f32, 3>) {
  tt.return
}
