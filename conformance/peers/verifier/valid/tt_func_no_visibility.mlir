// shows: tt.func: neither public nor private
tt.func @k(%x: i32) {
  tt.return
}
