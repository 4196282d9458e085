// rule: tt.descriptor_gather: the descriptor's block has one row
tt.func public @k(%d: !tt.tensordesc<2x32xf16>, %x: tensor<32xi32>, %y: i32) {
  %0 = tt.descriptor_gather %d[%x, %y] : (!tt.tensordesc<2x32xf16>, tensor<32xi32>, i32) -> tensor<32x32xf16>
  tt.return
}
