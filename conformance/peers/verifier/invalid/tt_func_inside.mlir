// rule: tt.func: it stands in a module
tt.func public @k(%x: i32) {
  tt.func private @inner() {
    tt.return
  }
  tt.return
}
