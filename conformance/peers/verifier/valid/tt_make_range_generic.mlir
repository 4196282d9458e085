// shows: tt.make_range: the generic form
tt.func public @k() {
  %0 = "tt.make_range"() <{end = 64 : i32, start = 0 : i32}> : () -> tensor<64xi32>
  tt.return
}
