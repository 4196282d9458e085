// rule: tt.atomic_rmw: the mask is of i1 in the value's shape
tt.func public @k(%p: tensor<64x!tt.ptr<i32>>, %v: tensor<64xi32>, %m: i1) {
  %0 = tt.atomic_rmw add, relaxed, gpu, %p, %v, %m : (tensor<64x!tt.ptr<i32>>, tensor<64xi32>, i1) -> tensor<64xi32>
  tt.return
}
