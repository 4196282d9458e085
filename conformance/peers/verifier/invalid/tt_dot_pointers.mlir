// rule: tt.dot: the elements are numbers
tt.func public @k(%a: tensor<32x64x!tt.ptr<f16>>, %b: tensor<64x16xf16>, %c: tensor<32x16xf32>) {
  %0 = "tt.dot"(%a, %b, %c) : (tensor<32x64x!tt.ptr<f16>>, tensor<64x16xf16>, tensor<32x16xf32>) -> tensor<32x16xf32>
  tt.return
}
