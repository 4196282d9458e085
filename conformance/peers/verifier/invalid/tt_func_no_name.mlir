// rule: tt.func: it has a name
tt.func public (%x: i32) {
  tt.return
}
