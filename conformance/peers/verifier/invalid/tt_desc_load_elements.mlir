// rule: tt.descriptor_load: as many elements as the descriptor's block
tt.func public @k(%d: !tt.tensordesc<64x32xf16>, %i: i32) {
  %0 = tt.descriptor_load %d[%i, %i] : !tt.tensordesc<64x32xf16> -> tensor<64x64xf16>
  tt.return
}
