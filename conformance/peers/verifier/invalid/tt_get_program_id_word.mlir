// rule: tt.get_program_id: the axis is x, y or z
tt.func public @k() {
  %0 = tt.get_program_id w : i32
  tt.return
}
