// rule: tt.atomic_rmw: the order is one of the known words
tt.func public @k(%p: !tt.ptr<i32>, %v: i32) {
  %0 = tt.atomic_rmw add, seq_cst, gpu, %p, %v : (!tt.ptr<i32>, i32) -> i32
  tt.return
}
