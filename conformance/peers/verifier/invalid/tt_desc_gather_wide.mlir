// rule: tt.descriptor_gather: elements of 32 bits at most
tt.func public @k(%d: !tt.tensordesc<1x32xf64>, %x: tensor<32xi32>, %y: i32) {
  %0 = tt.descriptor_gather %d[%x, %y] : (!tt.tensordesc<1x32xf64>, tensor<32xi32>, i32) -> tensor<32x32xf64>
  tt.return
}
