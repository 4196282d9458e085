// rule: !tt.ptr: a pointer points to a number, no tensor
tt.func public @k(%p: !tt.ptr<tensor<64xf32>>) {
  tt.return
}
