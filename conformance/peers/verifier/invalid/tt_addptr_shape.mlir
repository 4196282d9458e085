// rule: tt.addptr: the offset has the pointers' shape
tt.func public @k(%p: tensor<64x!tt.ptr<f32>>, %o: i32) {
  %0 = tt.addptr %p, %o : tensor<64x!tt.ptr<f32>>, i32
  tt.return
}
