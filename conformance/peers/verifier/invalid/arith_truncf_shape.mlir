// rule: arith.truncf: the shape stays
tt.func public @k(%x: tensor<64xf32>) {
  %0 = arith.truncf %x : tensor<64xf32> to tensor<32xf16>
  tt.return
}
