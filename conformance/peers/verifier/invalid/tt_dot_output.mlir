// rule: tt.dot: the result has A's rows and B's columns
tt.func public @k(%a: tensor<32x64xf16>, %b: tensor<64x16xf16>, %c: tensor<32x32xf32>) {
  %0 = tt.dot %a, %b, %c : tensor<32x64xf16> * tensor<64x16xf16> -> tensor<32x32xf32>
  tt.return
}
