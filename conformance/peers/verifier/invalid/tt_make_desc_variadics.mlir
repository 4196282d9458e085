// rule: tt.make_tensor_descriptor: as many strides of i64 as lengths of i32 (generic form)
tt.func public @k(%p: !tt.ptr<f16>, %n: i32, %s: i64) {
  %0 = "tt.make_tensor_descriptor"(%p, %n, %n) : (!tt.ptr<f16>, i32, i32) -> !tt.tensordesc<64xf16>
  tt.return
}
