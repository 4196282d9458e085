// rule: tt.dot: two or three axes
tt.func public @k(%a: tensor<32xf16>, %b: tensor<32xf16>, %c: tensor<32xf32>) {
  %0 = tt.dot %a, %b, %c : tensor<32xf16> * tensor<32xf16> -> tensor<32xf32>
  tt.return
}
