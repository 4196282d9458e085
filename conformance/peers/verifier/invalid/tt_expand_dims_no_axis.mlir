// rule: tt.expand_dims: axis is said
tt.func public @k(%a: tensor<64xf32>) {
  %0 = "tt.expand_dims"(%a) : (tensor<64xf32>) -> tensor<64x1xf32>
  tt.return
}
