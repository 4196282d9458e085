// rule: tt.call: the function is there
tt.func public @k(%x: i32) {
  tt.call @nobody(%x) : (i32) -> ()
  tt.return
}
