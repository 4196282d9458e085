// shows: ttg.target: any text
module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "somewhere"} {
  tt.func public @k() {
    tt.return
  }
}
