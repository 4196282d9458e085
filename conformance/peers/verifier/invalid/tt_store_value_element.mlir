// rule: tt.store: the value's element is what the pointer points to (custom form)
tt.func public @k(%p: tensor<64x!tt.ptr<f32>>, %v: tensor<64xf16>) {
  tt.store %p, %v : tensor<64x!tt.ptr<f32>>
  tt.return
}
