// shows: tt.load: isVolatile in braces
tt.func public @k(%p: !tt.ptr<i64>) {
  %0 = tt.load %p {isVolatile = true} : !tt.ptr<i64>
  tt.return
}
