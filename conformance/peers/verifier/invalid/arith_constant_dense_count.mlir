// rule: arith.constant: as many elements as the tensor has
tt.func public @k() {
  %0 = arith.constant dense<[1, 2, 3]> : tensor<4xi32>
  tt.return
}
