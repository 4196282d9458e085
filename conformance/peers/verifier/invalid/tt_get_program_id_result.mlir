// rule: tt.get_program_id: the result is i32
tt.func public @k() {
  %0 = tt.get_program_id x : i64
  tt.return
}
