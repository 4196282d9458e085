// rule: tt.store: the mask is of i1 in the pointers' shape
tt.func public @k(%p: tensor<64x!tt.ptr<f32>>, %v: tensor<64xf32>, %m: tensor<64xi32>) {
  "tt.store"(%p, %v, %m) : (tensor<64x!tt.ptr<f32>>, tensor<64xf32>, tensor<64xi32>) -> ()
  tt.return
}
