// rule: scf.yield: both branches give all results
tt.func public @k(%c: i1, %x: i32) {
  %0:2 = scf.if %c -> (i32, i32) {
    scf.yield %x, %x : i32, i32
  } else {
    scf.yield %x : i32
  }
  tt.return
}
