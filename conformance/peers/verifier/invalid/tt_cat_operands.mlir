// rule: tt.cat: both operands have one type
tt.func public @k(%a: tensor<32xf32>, %b: tensor<64xf32>) {
  %0 = tt.cat %a, %b : tensor<32xf32> -> tensor<64xf32>
  tt.return
}
