// rule: tt.atomic_load: the order is relaxed or acquire
tt.func public @k(%p: !tt.ptr<i32>) {
  %0 = tt.atomic_load release, gpu, %p : (!tt.ptr<i32>) -> i32
  tt.return
}
