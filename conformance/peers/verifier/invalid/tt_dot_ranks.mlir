// rule: tt.dot: the operands have one rank
tt.func public @k(%a: tensor<2x32x64xf16>, %b: tensor<64x16xf16>, %c: tensor<2x32x16xf32>) {
  %0 = tt.dot %a, %b, %c : tensor<2x32x64xf16> * tensor<64x16xf16> -> tensor<2x32x16xf32>
  tt.return
}
