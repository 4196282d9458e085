// rule: tt.gather: axis is below the rank
tt.func public @k(%a: tensor<64xf32>, %i: tensor<32xi32>) {
  %0 = tt.gather %a[%i] {axis = 1 : i32} : (tensor<64xf32>, tensor<32xi32>) -> tensor<32xf32>
  tt.return
}
