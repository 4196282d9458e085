// rule: tt.make_tensor_descriptor: the shape is of i32
tt.func public @k(%p: !tt.ptr<f16>, %n: i64, %s: i64) {
  %0 = tt.make_tensor_descriptor %p, [%n], [%s] : !tt.ptr<f16>, !tt.tensordesc<64xf16>
  tt.return
}
