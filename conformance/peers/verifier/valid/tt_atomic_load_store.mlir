// shows: tt.atomic_load and tt.atomic_store
tt.func public @k(%p: !tt.ptr<i32>, %v: i32, %q: tensor<64x!tt.ptr<f32>>, %m: tensor<64xi1>) {
  %0 = tt.atomic_load acquire, gpu, %p : (!tt.ptr<i32>) -> i32
  %1 = tt.atomic_load relaxed, sys, %q, %m : (tensor<64x!tt.ptr<f32>>, tensor<64xi1>) -> tensor<64xf32>
  tt.atomic_store release, gpu, %p, %v : !tt.ptr<i32>
  tt.atomic_store relaxed, cta, %q, %1, %m : tensor<64x!tt.ptr<f32>>
  tt.return
}
