// rule: tt.atomic_load: the result is what the pointer points to
tt.func public @k(%p: !tt.ptr<i32>) {
  %0 = tt.atomic_load acquire, gpu, %p : (!tt.ptr<i32>) -> i64
  tt.return
}
