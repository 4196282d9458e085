// rule: !tt.tensordesc: it is of a shape and an element, no tensor type
tt.func public @k(%d: !tt.tensordesc<tensor<64x32xf16>>) {
  tt.return
}
