// rule: arith.constant: the result has the value's type
tt.func public @k() {
  %0 = "arith.constant"() <{value = 1 : i32}> : () -> i64
  tt.return
}
