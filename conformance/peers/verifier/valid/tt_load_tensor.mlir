// shows: tt.load: pointers, mask, other
tt.func public @k(%p: tensor<64x!tt.ptr<f32>>, %m: tensor<64xi1>, %o: tensor<64xf32>) {
  %0 = tt.load %p : tensor<64x!tt.ptr<f32>>
  %1 = tt.load %p, %m : tensor<64x!tt.ptr<f32>>
  %2 = tt.load %p, %m, %o : tensor<64x!tt.ptr<f32>>
  tt.return
}
