// rule: tt.gather: the indices are integers
tt.func public @k(%a: tensor<64xf32>, %i: tensor<32xf32>) {
  %0 = tt.gather %a[%i] {axis = 0 : i32} : (tensor<64xf32>, tensor<32xf32>) -> tensor<32xf32>
  tt.return
}
