// rule: tt.gather: the axes that are not gathered are equally long
tt.func public @k(%a: tensor<64x32xf32>, %i: tensor<16x16xi32>) {
  %0 = tt.gather %a[%i] {axis = 0 : i32} : (tensor<64x32xf32>, tensor<16x16xi32>) -> tensor<16x16xf32>
  tt.return
}
