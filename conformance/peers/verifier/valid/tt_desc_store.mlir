// shows: tt.descriptor_store and tt.descriptor_reduce
tt.func public @k(%d: !tt.tensordesc<64x32xi32>, %v: tensor<64x32xi32>, %i: i32) {
  tt.descriptor_store %d[%i, %i], %v : !tt.tensordesc<64x32xi32>, tensor<64x32xi32>
  tt.descriptor_reduce add, %d[%i, %i], %v : !tt.tensordesc<64x32xi32>, tensor<64x32xi32>
  tt.descriptor_reduce xor, %d[%i, %i], %v : !tt.tensordesc<64x32xi32>, tensor<64x32xi32>
  tt.descriptor_reduce max, %d[%i, %i], %v : !tt.tensordesc<64x32xi32>, tensor<64x32xi32>
  tt.return
}
