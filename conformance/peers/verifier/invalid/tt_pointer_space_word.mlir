// rule: !tt.ptr: the address space is a known word
tt.func public @k(%p: !tt.ptr<f32, "shared">) {
  tt.return
}
