// rule: tt.descriptor_scatter: the block's columns
tt.func public @k(%d: !tt.tensordesc<1x64xf16>, %x: tensor<32xi32>, %y: i32, %v: tensor<32x32xf16>) {
  tt.descriptor_scatter %d[%x, %y], %v : !tt.tensordesc<1x64xf16>, tensor<32xi32>, i32, tensor<32x32xf16>
  tt.return
}
