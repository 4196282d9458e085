// shows: tt.atomic_rmw: tensors with a mask
tt.func public @k(%p: tensor<64x!tt.ptr<i64>>, %v: tensor<64xi64>, %m: tensor<64xi1>) {
  %0 = tt.atomic_rmw max, relaxed, gpu, %p, %v, %m : (tensor<64x!tt.ptr<i64>>, tensor<64xi64>, tensor<64xi1>) -> tensor<64xi64>
  tt.return
}
