// rule: a comment goes to the end of its line
tt.func public @k(%x: i32 /* none */) {
  tt.return
}
