// rule: tt.ptr_to_int: the result is i64
tt.func public @k(%a: !tt.ptr<f32>) {
  %0 = tt.ptr_to_int %a : !tt.ptr<f32> -> i32
  tt.return
}
