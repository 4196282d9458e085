// rule: scf.yield: it stands in a scf operation
tt.func public @k() {
  scf.yield
  tt.return
}
