// shows: tt.atomic_cas: a scalar and tensors
tt.func public @k(%p: !tt.ptr<i32>, %c: i32, %q: tensor<64x!tt.ptr<f32>>, %d: tensor<64xf32>) {
  %0 = tt.atomic_cas acq_rel, gpu, %p, %c, %c : (!tt.ptr<i32>, i32, i32) -> i32
  %1 = tt.atomic_cas relaxed, sys, %q, %d, %d : (tensor<64x!tt.ptr<f32>>, tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  tt.return
}
