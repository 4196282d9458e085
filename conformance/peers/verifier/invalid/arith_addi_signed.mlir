// rule: arith.addi: integers without a sign
tt.func public @k(%x: si32) {
  %0 = arith.addi %x, %x : si32
  tt.return
}
