// rule: tt.func: a block ends with a terminator
tt.func public @k(%x: i32) {
  %0 = arith.addi %x, %x : i32
}
