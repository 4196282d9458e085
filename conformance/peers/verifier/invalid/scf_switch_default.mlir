// rule: scf.index_switch: it has a default
tt.func public @k(%x: index) {
  scf.index_switch %x
  case 0 {
    scf.yield
  }
  tt.return
}
