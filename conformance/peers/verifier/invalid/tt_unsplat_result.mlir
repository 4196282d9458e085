// rule: tt.unsplat: the result is the element
tt.func public @k(%a: tensor<1xf32>) {
  %0 = "tt.unsplat"(%a) : (tensor<1xf32>) -> i32
  tt.return
}
