// rule: tt.store: the value has the pointers' shape
tt.func public @k(%p: tensor<64x!tt.ptr<f32>>, %v: tensor<128xf32>) {
  "tt.store"(%p, %v) : (tensor<64x!tt.ptr<f32>>, tensor<128xf32>) -> ()
  tt.return
}
