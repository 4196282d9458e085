// rule: tt.atomic_rmw: the pointer points to the value's type
tt.func public @k(%p: !tt.ptr<f32>, %v: i32) {
  %0 = tt.atomic_rmw add, acq_rel, gpu, %p, %v : (!tt.ptr<f32>, i32) -> i32
  tt.return
}
