// shows: comments at each place
module { // behind
  // within
  tt.func public @k(%x: i32) {
    tt.return
  }
}
