// rule: tt.descriptor_gather: the rows' numbers are i16 or i32
tt.func public @k(%d: !tt.tensordesc<1x32xf16>, %x: tensor<32xi64>, %y: i32) {
  %0 = tt.descriptor_gather %d[%x, %y] : (!tt.tensordesc<1x32xf16>, tensor<32xi64>, i32) -> tensor<32x32xf16>
  tt.return
}
