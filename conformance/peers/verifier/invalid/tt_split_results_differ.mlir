// rule: tt.split: both results have one type
tt.func public @k(%a: tensor<32x2xf32>) {
  %0, %1 = "tt.split"(%a) : (tensor<32x2xf32>) -> (tensor<32xf32>, tensor<32xi32>)
  tt.return
}
