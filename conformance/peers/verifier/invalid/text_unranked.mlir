// rule: a tensor has a rank
tt.func public @k(%a: tensor<*xf32>) {
  %0 = "tt.trans"(%a) <{order = array<i32: 0>}> : (tensor<*xf32>) -> tensor<*xf32>
  tt.return
}
