// rule: arith.constant: true stands without a type
tt.func public @k() {
  %0 = arith.constant true : i32
  tt.return
}
