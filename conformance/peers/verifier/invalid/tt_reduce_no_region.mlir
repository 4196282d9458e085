// rule: tt.reduce: it has a region
tt.func public @k(%a: tensor<64xf32>) {
  %0 = "tt.reduce"(%a) <{axis = 0 : i32}> : (tensor<64xf32>) -> f32
  tt.return
}
