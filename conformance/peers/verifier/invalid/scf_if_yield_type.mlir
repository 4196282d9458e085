// rule: scf.yield: both branches give the results' types
tt.func public @k(%c: i1, %x: i32, %y: i64) {
  %0 = scf.if %c -> (i32) {
    scf.yield %x : i32
  } else {
    scf.yield %y : i64
  }
  tt.return
}
