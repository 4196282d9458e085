// rule: tt.call: as many operands as the function has arguments
tt.func private @one(%x: i32) {
  tt.return
}
tt.func public @k(%x: i32) {
  tt.call @one(%x, %x) : (i32, i32) -> ()
  tt.return
}
