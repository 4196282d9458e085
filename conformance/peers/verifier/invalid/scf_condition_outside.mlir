// rule: scf.condition: it stands in a scf.while
tt.func public @k(%c: i1) {
  scf.condition(%c)
  tt.return
}
