// rule: a function sees no value of outside
tt.func private @a(%x: i32) {
  tt.return
}
tt.func private @b() {
  %y = arith.addi %x, %x : i32
  tt.return
}
