// rule: tt.gather: source and indices have one rank
tt.func public @k(%a: tensor<64x32xf32>, %i: tensor<64xi32>) {
  %0 = tt.gather %a[%i] {axis = 0 : i32} : (tensor<64x32xf32>, tensor<64xi32>) -> tensor<64xf32>
  tt.return
}
