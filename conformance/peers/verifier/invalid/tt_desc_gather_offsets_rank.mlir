// rule: tt.descriptor_gather: the rows' numbers have one axis
tt.func public @k(%d: !tt.tensordesc<1x32xf16>, %x: tensor<1x32xi32>, %y: i32) {
  %0 = tt.descriptor_gather %d[%x, %y] : (!tt.tensordesc<1x32xf16>, tensor<1x32xi32>, i32) -> tensor<32x32xf16>
  tt.return
}
