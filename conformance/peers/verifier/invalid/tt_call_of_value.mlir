// rule: tt.call: the callee is a symbol
tt.func public @k(%x: i32) {
  tt.call %x(%x) : (i32) -> ()
  tt.return
}
