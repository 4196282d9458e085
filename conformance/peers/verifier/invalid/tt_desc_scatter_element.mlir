// rule: tt.descriptor_scatter: the block's element type
tt.func public @k(%d: !tt.tensordesc<1x32xf16>, %x: tensor<32xi32>, %y: i32, %v: tensor<32x32xi16>) {
  tt.descriptor_scatter %d[%x, %y], %v : !tt.tensordesc<1x32xf16>, tensor<32xi32>, i32, tensor<32x32xi16>
  tt.return
}
