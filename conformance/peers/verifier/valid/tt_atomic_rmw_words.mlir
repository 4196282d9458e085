// shows: tt.atomic_rmw: every operation
tt.func public @k(%p: !tt.ptr<i32>, %q: !tt.ptr<f32>, %v: i32, %w: f32) {
  %0 = tt.atomic_rmw and, relaxed, gpu, %p, %v : (!tt.ptr<i32>, i32) -> i32
  %1 = tt.atomic_rmw or, acquire, cta, %p, %v : (!tt.ptr<i32>, i32) -> i32
  %2 = tt.atomic_rmw xor, release, sys, %p, %v : (!tt.ptr<i32>, i32) -> i32
  %3 = tt.atomic_rmw add, acq_rel, gpu, %p, %v : (!tt.ptr<i32>, i32) -> i32
  %4 = tt.atomic_rmw fadd, acq_rel, gpu, %q, %w : (!tt.ptr<f32>, f32) -> f32
  %5 = tt.atomic_rmw umax, acq_rel, gpu, %p, %v : (!tt.ptr<i32>, i32) -> i32
  %6 = tt.atomic_rmw umin, acq_rel, gpu, %p, %v : (!tt.ptr<i32>, i32) -> i32
  %7 = tt.atomic_rmw exch, acq_rel, gpu, %q, %w : (!tt.ptr<f32>, f32) -> f32
  tt.return
}
