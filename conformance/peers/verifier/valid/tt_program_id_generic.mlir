// shows: tt.get_program_id: the generic form with a number
tt.func public @k() {
  %0 = "tt.get_program_id"() <{axis = 1 : i32}> : () -> i32
  tt.return
}
