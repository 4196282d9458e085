// rule: tt.descriptor_store: as many elements as the descriptor's block
tt.func public @k(%d: !tt.tensordesc<64x32xf16>, %v: tensor<32x32xf16>, %i: i32) {
  tt.descriptor_store %d[%i, %i], %v : !tt.tensordesc<64x32xf16>, tensor<32x32xf16>
  tt.return
}
