// rule: tt.atomic_cas: the pointer points to the type of cmp
tt.func public @k(%p: !tt.ptr<i64>, %c: i32, %v: i32) {
  %0 = tt.atomic_cas acq_rel, gpu, %p, %c, %v : (!tt.ptr<i64>, i32, i32) -> i32
  tt.return
}
