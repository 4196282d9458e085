// rule: tt.assert: it has a message
tt.func public @k(%x: i1) {
  tt.assert %x : i1
  tt.return
}
