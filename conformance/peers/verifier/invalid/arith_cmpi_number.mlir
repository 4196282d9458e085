// rule: arith.cmpi: the predicate's number is below 10
tt.func public @k(%x: i32) {
  %0 = "arith.cmpi"(%x, %x) <{predicate = 10 : i64}> : (i32, i32) -> i1
  tt.return
}
