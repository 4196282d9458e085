// rule: tt.dot: the last axis of A is as long as the first of B
tt.func public @k(%a: tensor<32x64xf16>, %b: tensor<32x16xf16>, %c: tensor<32x16xf32>) {
  %0 = tt.dot %a, %b, %c : tensor<32x64xf16> * tensor<32x16xf16> -> tensor<32x16xf32>
  tt.return
}
