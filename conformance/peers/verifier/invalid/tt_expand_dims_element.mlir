// rule: tt.expand_dims: the element type stays
tt.func public @k(%a: tensor<64xf32>) {
  %0 = tt.expand_dims %a {axis = 0 : i32} : tensor<64xf32> -> tensor<1x64xi32>
  tt.return
}
