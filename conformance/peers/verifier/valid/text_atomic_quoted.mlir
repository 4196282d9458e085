// shows: tt.atomic_rmw: words in quotes
tt.func public @k(%p: !tt.ptr<i32>, %x: i32) {
  %0 = tt.atomic_rmw "add", "relaxed", "gpu", %p, %x : (!tt.ptr<i32>, i32) -> i32
  tt.return
}
