// rule: tt.descriptor_scatter: the descriptor's block has one row
tt.func public @k(%d: !tt.tensordesc<32x32xf16>, %x: tensor<32xi32>, %y: i32, %v: tensor<32x32xf16>) {
  tt.descriptor_scatter %d[%x, %y], %v : !tt.tensordesc<32x32xf16>, tensor<32xi32>, i32, tensor<32x32xf16>
  tt.return
}
