// rule: arith.addi: no scalar with a tensor
tt.func public @k(%x: tensor<64xi32>, %y: i32) {
  %0 = arith.addi %x, %y : tensor<64xi32>
  tt.return
}
