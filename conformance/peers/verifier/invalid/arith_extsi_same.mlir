// rule: arith.extsi: not to as many bits
tt.func public @k(%x: i32) {
  %0 = arith.extsi %x : i32 to i32
  tt.return
}
