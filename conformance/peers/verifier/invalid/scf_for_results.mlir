// rule: scf.for: as many results as carried values
tt.func public @k(%n: i32, %x: f32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> (f32, f32) : i32 {
    scf.yield %a, %a : f32, f32
  }
  tt.return
}
