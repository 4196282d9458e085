// rule: arith.cmpi: the result is i1
tt.func public @k(%x: i32) {
  %0 = "arith.cmpi"(%x, %x) <{predicate = 2 : i64}> : (i32, i32) -> i32
  tt.return
}
