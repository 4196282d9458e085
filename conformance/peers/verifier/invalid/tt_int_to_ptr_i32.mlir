// rule: tt.int_to_ptr: the number is i64
tt.func public @k(%a: i32) {
  %0 = tt.int_to_ptr %a : i32 -> !tt.ptr<f32>
  tt.return
}
