// rule: scf.if: one with results has both branches
tt.func public @k(%c: i1, %x: i32) {
  %0 = scf.if %c -> (i32) {
    scf.yield %x : i32
  }
  tt.return
}
