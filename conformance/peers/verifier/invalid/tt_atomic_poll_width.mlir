// rule: tt.atomic_poll: 16, 32 or 64 bits
tt.func public @k(%p: !tt.ptr<i8>, %e: i8) {
  %0 = tt.atomic_poll acquire, gpu, %p, %e : !tt.ptr<i8>, i8 -> i1
  tt.return
}
