// rule: tt.descriptor_gather: 16 columns of f16 or more
tt.func public @k(%d: !tt.tensordesc<1x8xf16>, %x: tensor<32xi32>, %y: i32) {
  %0 = tt.descriptor_gather %d[%x, %y] : (!tt.tensordesc<1x8xf16>, tensor<32xi32>, i32) -> tensor<32x8xf16>
  tt.return
}
