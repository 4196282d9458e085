// rule: tt.store: the value's element is what the pointer points to (generic form)
tt.func public @k(%p: tensor<64x!tt.ptr<f32>>, %v: tensor<64xi32>) {
  "tt.store"(%p, %v) : (tensor<64x!tt.ptr<f32>>, tensor<64xi32>) -> ()
  tt.return
}
