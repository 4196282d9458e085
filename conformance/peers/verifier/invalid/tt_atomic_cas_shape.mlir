// rule: tt.atomic_cas: operands have one shape
tt.func public @k(%p: tensor<64x!tt.ptr<i32>>, %c: i32, %v: tensor<64xi32>) {
  %0 = tt.atomic_cas acq_rel, gpu, %p, %c, %v : (tensor<64x!tt.ptr<i32>>, i32, tensor<64xi32>) -> tensor<64xi32>
  tt.return
}
