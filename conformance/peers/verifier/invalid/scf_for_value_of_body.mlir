// rule: a value of a loop's body is no value behind it
tt.func public @k(%n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
    %x = arith.addi %i, %i : i32
  }
  %y = arith.addi %x, %x : i32
  tt.return
}
