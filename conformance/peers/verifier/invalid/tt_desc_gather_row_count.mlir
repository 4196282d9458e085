// rule: tt.descriptor_gather: as many rows as numbers
tt.func public @k(%d: !tt.tensordesc<1x32xf16>, %x: tensor<16xi32>, %y: i32) {
  %0 = tt.descriptor_gather %d[%x, %y] : (!tt.tensordesc<1x32xf16>, tensor<16xi32>, i32) -> tensor<32x32xf16>
  tt.return
}
