// rule: tt.func: a name once in a module
tt.func private @same(%x: i32) {
  tt.return
}
tt.func private @same(%x: i32) {
  tt.return
}
