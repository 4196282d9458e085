// shows: a module with a name, and one within another
module @outer attributes {"ttg.num-warps" = 4 : i32} {
  tt.func public @k() {
    tt.return
  }
}
