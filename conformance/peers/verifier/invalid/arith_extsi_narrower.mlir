// rule: arith.extsi: to more bits
tt.func public @k(%x: i64) {
  %0 = arith.extsi %x : i64 to i32
  tt.return
}
