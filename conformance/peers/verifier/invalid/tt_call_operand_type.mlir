// rule: tt.call: the operands have the arguments' types
tt.func private @one(%x: i32) {
  tt.return
}
tt.func public @k(%x: i64) {
  tt.call @one(%x) : (i64) -> ()
  tt.return
}
