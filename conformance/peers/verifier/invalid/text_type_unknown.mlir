// rule: a builtin type is known
tt.func public @k(%a: float32) {
  tt.return
}
