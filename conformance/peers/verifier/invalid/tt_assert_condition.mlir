// rule: tt.assert: the condition is i1
tt.func public @k(%x: i32) {
  tt.assert %x, "never" : i32
  tt.return
}
