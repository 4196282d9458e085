// rule: tt.get_program_id: the axis's number is 0, 1 or 2
tt.func public @k() {
  %0 = "tt.get_program_id"() <{axis = 3 : i32}> : () -> i32
  tt.return
}
