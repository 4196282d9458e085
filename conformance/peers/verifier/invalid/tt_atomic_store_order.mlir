// rule: tt.atomic_store: the order is relaxed or release
tt.func public @k(%p: !tt.ptr<i32>, %v: i32) {
  tt.atomic_store acquire, gpu, %p, %v : !tt.ptr<i32>
  tt.return
}
