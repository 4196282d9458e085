// rule: tt.ptr_to_int: the source is a pointer
tt.func public @k(%a: f64) {
  %0 = tt.ptr_to_int %a : f64 -> i64
  tt.return
}
