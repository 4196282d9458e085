// rule: a region is closed
tt.func public @k() {
  tt.return
