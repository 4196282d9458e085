// rule: tt.dot: inputPrecision is one of the known words
tt.func public @k(%a: tensor<32x64xf32>, %b: tensor<64x16xf32>, %c: tensor<32x16xf32>) {
  %0 = tt.dot %a, %b, %c, inputPrecision = tf16 : tensor<32x64xf32> * tensor<64x16xf32> -> tensor<32x16xf32>
  tt.return
}
