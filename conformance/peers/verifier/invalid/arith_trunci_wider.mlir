// rule: arith.trunci: to fewer bits
tt.func public @k(%x: i32) {
  %0 = arith.trunci %x : i32 to i64
  tt.return
}
