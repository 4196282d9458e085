// rule: arith.constant: the number fits its type
tt.func public @k() {
  %0 = arith.constant 300 : i8
  tt.return
}
