// rule: tt.dot: the batches are one
tt.func public @k(%a: tensor<4x32x64xf16>, %b: tensor<2x64x16xf16>, %c: tensor<4x32x16xf32>) {
  %0 = tt.dot %a, %b, %c : tensor<4x32x64xf16> * tensor<2x64x16xf16> -> tensor<4x32x16xf32>
  tt.return
}
