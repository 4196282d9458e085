// rule: arith.addi: nsw and nuw
tt.func public @k(%x: i32) {
  %0 = arith.addi %x, %x overflow<nssw> : i32
  tt.return
}
