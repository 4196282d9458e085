// rule: tt.descriptor_gather: 8 rows or more
tt.func public @k(%d: !tt.tensordesc<1x32xf16>, %x: tensor<4xi32>, %y: i32) {
  %0 = tt.descriptor_gather %d[%x, %y] : (!tt.tensordesc<1x32xf16>, tensor<4xi32>, i32) -> tensor<4x32xf16>
  tt.return
}
