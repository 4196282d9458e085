// shows: tt.broadcast: pointers
tt.func public @k(%a: tensor<64x1x!tt.ptr<f32>>) {
  %0 = tt.broadcast %a : tensor<64x1x!tt.ptr<f32>> -> tensor<64x32x!tt.ptr<f32>>
  tt.return
}
