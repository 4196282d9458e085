// rule: tt.call: as many results as the function
tt.func private @one(%x: i32) -> i32 {
  tt.return %x : i32
}
tt.func public @k(%x: i32) {
  tt.call @one(%x) : (i32) -> ()
  tt.return
}
