// rule: arith.cmpi: the result has the operands' shape
tt.func public @k(%x: tensor<64xi32>) {
  %0 = "arith.cmpi"(%x, %x) <{predicate = 2 : i64}> : (tensor<64xi32>, tensor<64xi32>) -> i1
  tt.return
}
