// rule: tt.descriptor_reduce: the value has the descriptor's element type
tt.func public @k(%d: !tt.tensordesc<64x32xf32>, %v: tensor<64x32xf16>, %i: i32) {
  tt.descriptor_reduce add, %d[%i, %i], %v : !tt.tensordesc<64x32xf32>, tensor<64x32xf16>
  tt.return
}
