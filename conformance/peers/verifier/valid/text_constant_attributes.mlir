// shows: arith.constant: further attributes
tt.func public @k() {
  %0 = arith.constant {tt.hint = "a"} 4 : i32
  tt.return
}
