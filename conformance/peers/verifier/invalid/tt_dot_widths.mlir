// rule: tt.dot: the elements of A and B are equally wide
tt.func public @k(%a: tensor<32x64xf16>, %b: tensor<64x16xf32>, %c: tensor<32x16xf32>) {
  %0 = tt.dot %a, %b, %c : tensor<32x64xf16> * tensor<64x16xf32> -> tensor<32x16xf32>
  tt.return
}
