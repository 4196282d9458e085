// rule: a tensor has an element type
tt.func public @k(%a: tensor<64x>) {
  tt.return
}
