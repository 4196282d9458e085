// rule: tt.atomic_poll: acquire and relaxed alone
tt.func public @k(%p: !tt.ptr<i32>, %e: i32) {
  %0 = tt.atomic_poll release, gpu, %p, %e : !tt.ptr<i32>, i32 -> i1
  tt.return
}
