// rule: tt.descriptor_load: the indices are i32
tt.func public @k(%d: !tt.tensordesc<64x32xf16>, %i: i64) {
  %0 = tt.descriptor_load %d[%i, %i] : !tt.tensordesc<64x32xf16> -> tensor<64x32xf16>
  tt.return
}
