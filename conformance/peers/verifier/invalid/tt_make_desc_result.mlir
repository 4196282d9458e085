// rule: tt.make_tensor_descriptor: the result is a descriptor
tt.func public @k(%p: !tt.ptr<f16>, %n: i32, %s: i64) {
  %0 = "tt.make_tensor_descriptor"(%p, %n, %s) : (!tt.ptr<f16>, i32, i64) -> tensor<64xf16>
  tt.return
}
