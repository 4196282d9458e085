// rule: scf.condition: it is i1
tt.func public @k(%x: i32) {
  %0 = scf.while (%a = %x) : (i32) -> i32 {
    scf.condition(%a) %a : i32
  } do {
^bb0(%b: i32):
    scf.yield %b : i32
  }
  tt.return
}
