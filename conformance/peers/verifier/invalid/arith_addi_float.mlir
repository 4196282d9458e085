// rule: arith.addi: integers alone
tt.func public @k(%x: f32) {
  %0 = arith.addi %x, %x : f32
  tt.return
}
