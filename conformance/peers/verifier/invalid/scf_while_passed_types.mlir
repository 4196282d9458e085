// rule: scf.condition: it passes the types of the second region
tt.func public @k(%x: i32, %c: i1) {
  %0 = scf.while (%a = %x) : (i32) -> i32 {
    scf.condition(%c) %a : i32
  } do {
^bb0(%b: i64):
    scf.yield %x : i32
  }
  tt.return
}
