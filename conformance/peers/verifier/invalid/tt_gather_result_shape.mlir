// rule: tt.gather: the result has the indices' shape
tt.func public @k(%a: tensor<64xf32>, %i: tensor<32xi32>) {
  %0 = tt.gather %a[%i] {axis = 0 : i32} : (tensor<64xf32>, tensor<32xi32>) -> tensor<64xf32>
  tt.return
}
