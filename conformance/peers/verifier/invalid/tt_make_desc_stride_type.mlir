// rule: tt.make_tensor_descriptor: the strides are of i64
tt.func public @k(%p: !tt.ptr<f16>, %n: i32) {
  %0 = tt.make_tensor_descriptor %p, [%n], [%n] : !tt.ptr<f16>, !tt.tensordesc<64xf16>
  tt.return
}
