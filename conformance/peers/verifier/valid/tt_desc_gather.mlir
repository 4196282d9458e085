// shows: tt.descriptor_gather and tt.descriptor_scatter: rows by numbers of 32 and 16 bits
tt.func public @k(%d: !tt.tensordesc<1x32xf16>, %x: tensor<32xi32>, %z: tensor<8xi16>, %y: i32) {
  %0 = tt.descriptor_gather %d[%x, %y] : (!tt.tensordesc<1x32xf16>, tensor<32xi32>, i32) -> tensor<32x32xf16>
  %1 = tt.descriptor_gather %d[%z, %y] : (!tt.tensordesc<1x32xf16>, tensor<8xi16>, i32) -> tensor<8x32xf16>
  tt.descriptor_scatter %d[%x, %y], %0 : !tt.tensordesc<1x32xf16>, tensor<32xi32>, i32, tensor<32x32xf16>
  tt.return
}
