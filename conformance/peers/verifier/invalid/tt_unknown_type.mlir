// rule: !tt: the types are ptr and tensordesc
tt.func public @k(%p: !tt.handle<f32>) {
  tt.return
}
