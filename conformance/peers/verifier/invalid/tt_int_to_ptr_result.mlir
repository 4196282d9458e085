// rule: tt.int_to_ptr: the result is a pointer
tt.func public @k(%a: i64) {
  %0 = tt.int_to_ptr %a : i64 -> f64
  tt.return
}
