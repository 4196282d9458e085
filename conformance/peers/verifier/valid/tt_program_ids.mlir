// shows: tt.get_program_id and tt.get_num_programs along each axis
tt.func public @k() {
  %0 = tt.get_program_id x : i32
  %1 = tt.get_program_id y : i32
  %2 = tt.get_program_id z : i32
  %3 = tt.get_num_programs x : i32
  %4 = tt.get_num_programs y : i32
  %5 = tt.get_num_programs z : i32
  tt.return
}
