// rule: tt.expand_dims: the axis of length 1 is where axis says
tt.func public @k(%a: tensor<64xf32>) {
  %0 = tt.expand_dims %a {axis = 0 : i32} : tensor<64xf32> -> tensor<64x1xf32>
  tt.return
}
