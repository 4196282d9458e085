// rule: tt.descriptor_store: the value has the descriptor's element type
tt.func public @k(%d: !tt.tensordesc<64x32xf16>, %v: tensor<64x32xbf16>, %i: i32) {
  tt.descriptor_store %d[%i, %i], %v : !tt.tensordesc<64x32xf16>, tensor<64x32xbf16>
  tt.return
}
