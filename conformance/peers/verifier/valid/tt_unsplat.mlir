// shows: tt.unsplat: of one axis and of two
tt.func public @k(%a: tensor<1xf32>, %b: tensor<1x1xi32>) {
  %0 = tt.unsplat %a : tensor<1xf32>
  %1 = tt.unsplat %b : tensor<1x1xi32>
  tt.return
}
