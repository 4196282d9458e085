// rule: arith.cmpi: the predicate is a known word
tt.func public @k(%x: i32) {
  %0 = arith.cmpi lt, %x, %x : i32
  tt.return
}
