// rule: arith.constant: the elements have the tensor's type
tt.func public @k() {
  %0 = arith.constant dense<1.0> : tensor<4xi32>
  tt.return
}
