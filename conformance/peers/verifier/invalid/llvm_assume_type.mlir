// rule: llvm.intr.assume: the condition is i1
tt.func public @k(%c: i32) {
  llvm.intr.assume %c : i32
  tt.return
}
