// shows: !tt.tensordesc: an element with a sign meets one without
tt.func public @k(%d: !tt.tensordesc<64x32xui8>, %i: i32) {
  %0 = tt.descriptor_load %d[%i, %i] : !tt.tensordesc<64x32xui8> -> tensor<64x32xi8>
  tt.return
}
