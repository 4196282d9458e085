// shows: tt.make_tensor_descriptor: one axis, two axes, padded by NaN
tt.func public @k(%p: !tt.ptr<f16>, %n: i32, %s: i64) {
  %0 = tt.make_tensor_descriptor %p, [%n], [%s] : !tt.ptr<f16>, !tt.tensordesc<64xf16>
  %1 = tt.make_tensor_descriptor %p, [%n, %n], [%s, %s] : !tt.ptr<f16>, !tt.tensordesc<64x32xf16>
  %2 = tt.make_tensor_descriptor %p, [%n, %n], [%s, %s] {padding = 2 : i32} : !tt.ptr<f16>, !tt.tensordesc<64x32xf16>
  tt.return
}
