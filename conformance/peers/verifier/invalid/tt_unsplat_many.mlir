// rule: tt.unsplat: the source has one element
tt.func public @k(%a: tensor<2xf32>) {
  %0 = tt.unsplat %a : tensor<2xf32>
  tt.return
}
