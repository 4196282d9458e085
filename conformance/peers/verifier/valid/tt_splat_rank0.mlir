// shows: tt.splat: of a tensor of rank 0
tt.func public @k(%a: tensor<f32>) {
  %0 = tt.splat %a : tensor<f32> -> tensor<64xf32>
  tt.return
}
