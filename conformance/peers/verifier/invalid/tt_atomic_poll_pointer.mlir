// rule: tt.atomic_poll: the pointer points to the expected value's type
tt.func public @k(%p: !tt.ptr<i64>, %e: i32) {
  %0 = tt.atomic_poll acquire, gpu, %p, %e : !tt.ptr<i64>, i32 -> i1
  tt.return
}
