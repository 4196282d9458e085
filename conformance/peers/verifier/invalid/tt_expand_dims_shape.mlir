// rule: tt.expand_dims: the result has the axis of length 1
tt.func public @k(%a: tensor<64xf32>) {
  %0 = tt.expand_dims %a {axis = 1 : i32} : tensor<64xf32> -> tensor<64x2xf32>
  tt.return
}
