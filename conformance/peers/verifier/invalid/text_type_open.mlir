// rule: a type is closed
tt.func public @k(%a: tensor<64xf32) {
  tt.return
}
