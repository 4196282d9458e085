// rule: arith.constant: the number has the type that is said
tt.func public @k() {
  %0 = arith.constant 1.5 : i32
  tt.return
}
