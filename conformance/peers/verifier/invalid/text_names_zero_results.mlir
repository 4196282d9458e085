// rule: no name for an operation without results
tt.func public @k(%p: !tt.ptr<i32>, %x: i32) {
  %0 = tt.store %p, %x : !tt.ptr<i32>
  tt.return
}
