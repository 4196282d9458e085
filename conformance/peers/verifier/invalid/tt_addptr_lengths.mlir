// rule: tt.addptr: as many offsets as pointers
tt.func public @k(%p: tensor<64x!tt.ptr<f32>>, %o: tensor<32xi32>) {
  %0 = tt.addptr %p, %o : tensor<64x!tt.ptr<f32>>, tensor<32xi32>
  tt.return
}
