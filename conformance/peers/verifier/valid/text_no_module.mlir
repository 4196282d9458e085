// shows: functions without a module around them
tt.func public @k() {
  tt.return
}
