// rule: tt.get_num_programs: the result is i32
tt.func public @k() {
  %0 = tt.get_num_programs y : index
  tt.return
}
