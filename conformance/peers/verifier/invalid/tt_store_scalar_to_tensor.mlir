// rule: tt.store: a scalar does not go to a tensor of pointers
tt.func public @k(%p: tensor<64x!tt.ptr<f32>>, %v: f32) {
  "tt.store"(%p, %v) : (tensor<64x!tt.ptr<f32>>, f32) -> ()
  tt.return
}
