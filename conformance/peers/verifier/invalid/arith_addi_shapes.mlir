// rule: arith.addi: the operands have one shape
tt.func public @k(%x: tensor<64xi32>, %y: tensor<32xi32>) {
  %0 = arith.addi %x, %y : tensor<64xi32>
  tt.return
}
