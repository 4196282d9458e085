// rule: tt.descriptor_gather: the result has two axes
tt.func public @k(%d: !tt.tensordesc<1x32xf16>, %x: tensor<32xi32>, %y: i32) {
  %0 = tt.descriptor_gather %d[%x, %y] : (!tt.tensordesc<1x32xf16>, tensor<32xi32>, i32) -> tensor<1024xf16>
  tt.return
}
