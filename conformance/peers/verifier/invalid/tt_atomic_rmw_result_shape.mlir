// rule: tt.atomic_rmw: the result has the value's shape
tt.func public @k(%p: tensor<64x!tt.ptr<i32>>, %v: tensor<64xi32>) {
  %0 = tt.atomic_rmw max, relaxed, cta, %p, %v : (tensor<64x!tt.ptr<i32>>, tensor<64xi32>) -> tensor<32xi32>
  tt.return
}
