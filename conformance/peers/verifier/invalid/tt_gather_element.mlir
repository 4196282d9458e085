// rule: tt.gather: the result has the source's element type
tt.func public @k(%a: tensor<64xf32>, %i: tensor<32xi32>) {
  %0 = tt.gather %a[%i] {axis = 0 : i32} : (tensor<64xf32>, tensor<32xi32>) -> tensor<32xi32>
  tt.return
}
