// rule: tt.descriptor_load: the result has the descriptor's element type
tt.func public @k(%d: !tt.tensordesc<64x32xf16>, %i: i32) {
  %0 = tt.descriptor_load %d[%i, %i] : !tt.tensordesc<64x32xf16> -> tensor<64x32xf32>
  tt.return
}
