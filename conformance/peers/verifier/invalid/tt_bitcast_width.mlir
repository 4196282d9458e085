// rule: tt.bitcast: the widths are equal
tt.func public @k(%a: tensor<64xi32>) {
  %0 = tt.bitcast %a : tensor<64xi32> -> tensor<64xf16>
  tt.return
}
