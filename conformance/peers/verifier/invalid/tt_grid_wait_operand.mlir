// rule: tt.grid_dependency_wait: no operand
tt.func public @k(%x: i32) {
  "tt.grid_dependency_wait"(%x) : (i32) -> ()
  tt.return
}
