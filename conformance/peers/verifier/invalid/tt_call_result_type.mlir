// rule: tt.call: the results have the function's types
tt.func private @one(%x: i32) -> i32 {
  tt.return %x : i32
}
tt.func public @k(%x: i32) {
  %0 = tt.call @one(%x) : (i32) -> f32
  tt.return
}
