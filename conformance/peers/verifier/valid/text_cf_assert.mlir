// shows: cf.assert: a message
tt.func public @k(%c: i1) {
  cf.assert %c, "must hold"
  tt.return
}
