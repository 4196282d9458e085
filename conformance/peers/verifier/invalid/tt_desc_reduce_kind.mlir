// rule: tt.descriptor_reduce: the kind is a known word
tt.func public @k(%d: !tt.tensordesc<64x32xf32>, %v: tensor<64x32xf32>, %i: i32) {
  tt.descriptor_reduce mul, %d[%i, %i], %v : !tt.tensordesc<64x32xf32>, tensor<64x32xf32>
  tt.return
}
