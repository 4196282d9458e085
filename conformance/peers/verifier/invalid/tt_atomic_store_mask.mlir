// rule: tt.atomic_store: the mask has the pointers' shape
tt.func public @k(%p: tensor<64x!tt.ptr<i32>>, %v: tensor<64xi32>, %m: i1) {
  tt.atomic_store release, gpu, %p, %v, %m : tensor<64x!tt.ptr<i32>>
  tt.return
}
