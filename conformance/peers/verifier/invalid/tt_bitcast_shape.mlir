// rule: tt.bitcast: the shape stays
tt.func public @k(%a: tensor<64xi32>) {
  %0 = tt.bitcast %a : tensor<64xi32> -> tensor<32xf32>
  tt.return
}
