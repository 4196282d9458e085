// rule: tt.descriptor_load: it takes a descriptor
tt.func public @k(%d: !tt.ptr<f16>, %i: i32) {
  %0 = tt.descriptor_load %d[%i, %i] : !tt.ptr<f16> -> tensor<64x32xf16>
  tt.return
}
