// shows: tt.atomic_poll: with and without a time
tt.func public @k(%p: !tt.ptr<i32>, %e: i32, %t: i64, %q: !tt.ptr<i64>) {
  %0 = tt.atomic_poll acquire, gpu, %p, %e : !tt.ptr<i32>, i32 -> i1
  %1 = tt.atomic_poll relaxed, sys, %q, %t timeout %t : !tt.ptr<i64>, i64 -> i1
  tt.return
}
