// rule: a value's number is below the results
tt.func public @k(%a: tensor<32x2xf32>) {
  %0:2 = "tt.split"(%a) : (tensor<32x2xf32>) -> (tensor<32xf32>, tensor<32xf32>)
  %1 = arith.addf %0#2, %0#0 : tensor<32xf32>
  tt.return
}
