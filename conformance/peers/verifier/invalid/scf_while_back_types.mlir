// rule: scf.yield: it goes back with the types of the first region
tt.func public @k(%x: i32, %y: i64, %c: i1) {
  %0 = scf.while (%a = %x) : (i32) -> i32 {
    scf.condition(%c) %a : i32
  } do {
^bb0(%b: i32):
    scf.yield %y : i64
  }
  tt.return
}
