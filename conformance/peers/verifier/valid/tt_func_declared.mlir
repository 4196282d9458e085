// shows: tt.func: one without a body
tt.func private @elsewhere(i32) -> i32
tt.func public @k(%x: i32) {
  %0 = tt.call @elsewhere(%x) : (i32) -> i32
  tt.return
}
