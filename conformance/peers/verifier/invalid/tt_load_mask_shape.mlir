// rule: tt.load: the mask has the shape of the pointers (custom form, its type is taken from the pointer's)
tt.func public @k(%p: tensor<64x!tt.ptr<f32>>, %m: tensor<32xi1>) {
  %0 = tt.load %p, %m : tensor<64x!tt.ptr<f32>>
  tt.return
}
