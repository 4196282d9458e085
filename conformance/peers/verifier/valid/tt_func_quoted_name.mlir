// shows: tt.func: a name in quotes
tt.func public @"k<4, 'a b'>"(%x: i32) {
  tt.return
}
