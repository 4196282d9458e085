// rule: tt.histogram: the mask has the source's shape
tt.func public @k(%a: tensor<64xi32>, %m: tensor<32xi1>) {
  %0 = tt.histogram %a, %m : tensor<64xi32> -> tensor<16xi32>
  tt.return
}
