// rule: tt.reduce.return: it stands in a tt.reduce
tt.func public @k(%a: f32) {
  tt.reduce.return %a : f32
  tt.return
}
