// rule: tt.make_tensor_descriptor: the base is one pointer
tt.func public @k(%p: tensor<64x!tt.ptr<f16>>, %n: i32, %s: i64) {
  %0 = "tt.make_tensor_descriptor"(%p, %n, %s) : (tensor<64x!tt.ptr<f16>>, i32, i64) -> !tt.tensordesc<64xf16>
  tt.return
}
