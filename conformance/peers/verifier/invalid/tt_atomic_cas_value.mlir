// rule: tt.atomic_cas: the pointer points to the type of the value
tt.func public @k(%p: !tt.ptr<i32>, %c: i32, %v: f32) {
  %0 = tt.atomic_cas acq_rel, gpu, %p, %c, %v : (!tt.ptr<i32>, i32, f32) -> i32
  tt.return
}
